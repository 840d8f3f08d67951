// Whether a provider accepts our credentials: as it is asked, and as any call shows.
import { startFakeAuthorizeNet } from '@paylog/testing/authorize-net/fakeAuthorizeNet'
import type { FaultPlan } from '@paylog/testing/fakeServer'
import { startFakePaypal } from '@paylog/testing/paypal/fakePaypal'
import { startFakeStripe } from '@paylog/testing/stripe/fakeStripe'
import t, { type Test } from 'tap'
import { refusalText, type SeenInCall, watchCall } from './callWatch.ts'
import { connect } from './testing/providerHarness.ts'
import { createRequest } from './testing/requests.ts'

type Sample = {
  readonly env: Readonly<Record<string, string>>
  /** The variables with credentials that the fake does not know. */
  readonly wrong: Readonly<Record<string, string>>
  /** Of the requests that the check makes. */
  readonly faults: FaultPlan
  readonly refusal: string
}

const samples: Readonly<Record<string, (t: Test) => Promise<Sample>>> = {
  async stripe(t) {
    const { env, readFaults: faults } = await startFakeStripe(t)
    const wrong = { STRIPE_SECRET_KEY: 'sk_test_4eC39HqLyjWDarjtT1zdp7dc' }
    return { env, wrong, faults, refusal: 'Invalid API Key provided: …' }
  },
  async paypal(t) {
    const { env, tokenFaults: faults } = await startFakePaypal(t)
    return { env, wrong: { PAYPAL_CLIENT_SECRET: 'another' }, faults, refusal: 'Client Authentication failed' }
  },
  async 'authorize-net'(t) {
    const { env, readFaults: faults } = await startFakeAuthorizeNet(t)
    const refusal = 'User authentication failed due to invalid authentication values.'
    return { env, wrong: { AUTHORIZE_NET_TRANSACTION_KEY: '0123456789abcdef' }, faults, refusal }
  },
}

const usd = { ...createRequest, currency: 'USD' }

for (const [name, start] of Object.entries(samples))
  t.test(`${name} is asked whether it accepts the credentials, and every call shows it`, async (t) => {
    const { env, wrong, faults, refusal } = await start(t)
    const known = await connect(t, env, { timeoutMs: 1_000 })
    const unknown = await connect(t, { ...env, ...wrong }, { timeoutMs: 1_000 })
    const seenIn = async (call: () => Promise<unknown>) => {
      const seen: SeenInCall = { wasThrottled: false }
      const outcome = await watchCall(seen, call).then(
        () => 'ok',
        (error: unknown) => error,
      )
      return { outcome, credentials: seen.credentials }
    }
    t.same(await seenIn(known.checkCredentials), { outcome: 'ok', credentials: 'accepted' })
    const rejected = { outcome: { name: 'ProviderError', kind: 'unavailable', refusal }, credentials: { refusal } }
    t.match(await seenIn(unknown.checkCredentials), rejected)
    t.same(await seenIn(() => known.createIntent(usd)), { outcome: 'ok', credentials: 'accepted' })
    t.match(await seenIn(() => unknown.createIntent(usd)), rejected)

    faults.always({ kind: 'status', status: 500, commits: false })
    const unclear = await seenIn(known.checkCredentials)
    t.match(unclear, { outcome: { name: 'ProviderError', refusal: null } })
    t.equal(unclear.credentials, undefined)
    faults.always({ kind: 'hang', commits: false })
    t.match((await seenIn(known.checkCredentials)).outcome, { name: 'ProviderError', refusal: null })
  })

t.test('a restricted key of Stripe that may not read the balance is accepted', async (t) => {
  const fake = await startFakeStripe(t)
  const { checkCredentials } = await connect(t, fake.env)
  const error = {
    type: 'invalid_request_error' as const,
    message: 'The provided key does not have the required permissions.',
  }
  fake.failNext({ status: 403, error })
  t.equal(await checkCredentials(), undefined)
})

t.test('the text of a refusal is one short line without keys', async (t) => {
  t.equal(refusalText('Invalid API Key provided: sk_test_****1234'), 'Invalid API Key provided: …')
  t.equal(refusalText('Expired API Key provided: rk_live_51AbCdEfGh'), 'Expired API Key provided: …')
  t.equal(refusalText(`the key ${'abcdefgh'.repeat(5)}\nis\twrong\u202e`), 'the key … is wrong')
  t.equal(refusalText('x '.repeat(100_000)).length, 200)
  t.equal(refusalText(' \n'), 'no reason given')
})
