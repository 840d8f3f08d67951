// Creating tokens for the hosted form, with rejected, lost and unsent calls.
import { loadConfig } from '@paylog/config/environment'
import { freePort } from '@paylog/testing/processes'
import t from 'tap'
import { Type } from 'typebox'
import type { ProviderError } from '../provider.ts'
import { authorizeNet } from './plugin.ts'
import {
  authorizeNetHarness,
  connectTo,
  openHostedPage,
  sampleIntent,
  sampleInvoice,
} from './testing/authorizeNetHarness.ts'

const unknown = { name: 'ProviderError', kind: 'unknown' }
const unavailable = { name: 'ProviderError', kind: 'unavailable' }

t.test(
  'Authorize.Net: an intent is created with the exact amount and a 20-digit invoice number [10.2-invoice-number]',
  async (t) => {
    const { fake, provider } = await authorizeNetHarness(t)
    const intent = await provider.createIntent(sampleIntent)
    t.equal(intent.provider_intent_id, sampleInvoice)
    t.ok(intent.client_secret)
    t.same(fake.calls, [
      {
        method: 'getHostedPaymentPage',
        request: {
          merchantAuthentication: { name: 'fake-login', transactionKey: 'fake-key' },
          refId: sampleInvoice,
          transactionRequest: {
            transactionType: 'authCaptureTransaction',
            amount: '25.99',
            currencyCode: 'USD',
            order: { invoiceNumber: sampleInvoice, description: 'Two tickets' },
            transactionSettings: { setting: [{ settingName: 'duplicateWindow', settingValue: '28800' }] },
          },
          hostedPaymentSettings: {
            setting: [
              { settingName: 'hostedPaymentButtonOptions', settingValue: '{"text":"Pay"}' },
              { settingName: 'hostedPaymentOrderOptions', settingValue: '{"show":false}' },
            ],
          },
        },
      },
    ])
  },
)

t.test(
  'Authorize.Net: an intent names the saved customer, and is created without one that the gateway lost',
  async (t) => {
    const { fake, provider } = await authorizeNetHarness(t)
    const user = { idempotency_key: 'k', user_id: 'user-1', email: null, name: null }
    const provider_customer_id = (await provider.methods?.createCustomer(user)) ?? null
    if (provider_customer_id === null) throw new Error('no customer')
    const saved = { provider_customer_id, provider_method_id: '1' }
    const first = await openHostedPage(provider, saved)
    const requested = () => fake.calls.map(({ request }) => Object(request.transactionRequest)).at(-1)
    t.same(requested().profile, { customerProfileId: provider_customer_id })
    fake.profiles.deleteCustomer(provider_customer_id)
    t.not((await openHostedPage(provider, saved)).token, first.token)
    t.notOk('profile' in requested())
    fake.failNext('E00007')
    await t.rejects(openHostedPage(provider, saved), { kind: 'unavailable', code: 'E00007' })
    t.equal(requested().profile.customerProfileId, provider_customer_id, 'sent once')
  },
)

t.test('Authorize.Net: return and cancel addresses are links of the form, and the receipt is skipped', async (t) => {
  const { fake, provider } = await authorizeNetHarness(t)
  const cases = [
    [
      null,
      'https://shop.example/cart',
      { showReceipt: true, cancelUrl: 'https://shop.example/cart', cancelUrlText: 'Cancel' },
    ],
    ['https://shop.example/done', null, { showReceipt: false, url: 'https://shop.example/done', urlText: 'Continue' }],
  ] as const
  for (const [return_url, cancel_url, expected] of cases) {
    await openHostedPage(provider, { return_url, cancel_url })
    const { setting } = Object(fake.calls.at(-1)?.request.hostedPaymentSettings)
    const options = setting.find(
      ({ settingName }: { settingName: string }) => settingName === 'hostedPaymentReturnOptions',
    )
    t.same(JSON.parse(options.settingValue), expected)
  }
})

t.test(
  'Authorize.Net: the redirect_url is our page with the token in its fragment, and null without a page',
  async (t) => {
    const { fake, provider } = await authorizeNetHarness(t)
    t.equal((await provider.createIntent(sampleIntent)).redirect_url, null)
    const env = { ...fake.env, AUTHORIZE_NET_PAGE_URL: 'https://pay.example.com' }
    const withPage = await authorizeNet.create(loadConfig(Type.Object(authorizeNet.variables), env), 5000)
    t.teardown(() => withPage?.close())
    const intent = await withPage?.createIntent(sampleIntent)
    const token = encodeURIComponent(intent?.client_secret ?? '')
    t.equal(intent?.redirect_url, `https://pay.example.com/pages/authorize-net#${token}`)
    t.equal(withPage?.hostedFormUrl, 'https://test.authorize.net/payment/payment')
  },
)

t.test('Authorize.Net: the hosted form is the live one for the live API', async (t) => {
  const env = {
    AUTHORIZE_NET_API_LOGIN_ID: 'a',
    AUTHORIZE_NET_TRANSACTION_KEY: 'b',
    AUTHORIZE_NET_SIGNATURE_KEY: 'c',
  }
  const live = await authorizeNet.create(loadConfig(Type.Object(authorizeNet.variables), env), 5000)
  t.teardown(() => live?.close())
  t.equal(live?.hostedFormUrl, 'https://accept.authorize.net/payment/payment')
})

t.test('Authorize.Net: a long description is cut to the gateway’s limit', async (t) => {
  const { fake, provider } = await authorizeNetHarness(t)
  await openHostedPage(provider, { description: `a\u0007b\n${'é'.repeat(300)}` })
  await openHostedPage(provider, { description: `${'a'.repeat(254)}😀` })
  await openHostedPage(provider, { description: null })
  const orders = fake.calls.map(({ request }) => request.transactionRequest)
  t.match(orders[0], { order: { description: `a b ${'é'.repeat(251)}` } })
  t.match(orders[1], { order: { description: `${'a'.repeat(254)}\ufffd` } })
  t.notMatch(orders[2], { order: { description: String } })
})

t.test('Authorize.Net: a repeated create call returns another token for the same invoice', async (t) => {
  const { provider } = await authorizeNetHarness(t)
  const first = await provider.createIntent(sampleIntent)
  const second = await provider.createIntent(sampleIntent)
  t.equal(second.provider_intent_id, first.provider_intent_id)
  t.not(second.client_secret, first.client_secret)
})

t.test('Authorize.Net: two tokens of one payment charge a card only once', async (t) => {
  const { fake, provider } = await authorizeNetHarness(t)
  const [first, second] = [await openHostedPage(provider), await openHostedPage(provider)]
  t.match(fake.pay(first), { responseCode: 1 })
  fake.advance(10 * 60 * 1000)
  t.match(fake.pay(second), { responseCode: 3, responseReasonCode: 11 }, 'even after the usual two minutes')
  t.equal(fake.ledger.charges.length, 1)
})

t.test('Authorize.Net: responses are read with and without a byte order mark', async (t) => {
  for (const byteOrderMark of [true, false]) {
    const { provider } = await authorizeNetHarness(t, { byteOrderMark })
    t.ok(await openHostedPage(provider))
  }
})

t.test('Authorize.Net: creating an intent is retried after a lost response', async (t) => {
  const { fake, provider } = await authorizeNetHarness(t)
  for (const commits of [false, true]) {
    fake.faults.next({ kind: 'drop', commits })
    t.ok(await openHostedPage(provider), 'dropped')
    fake.faults.next({ kind: 'status', status: 500, commits })
    t.ok(await openHostedPage(provider), 'HTTP 500')
    fake.faults.next({ kind: 'garbage', commits })
    t.ok(await openHostedPage(provider), 'garbage')
  }
  fake.faults.next({ kind: 'slow', ms: 100 })
  t.ok(await openHostedPage(provider), 'slow')
  t.equal(fake.ledger.charges.length, 0)
})

t.test('Authorize.Net: without a response the outcome is unknown within the time limit', async (t) => {
  const { fake, provider } = await authorizeNetHarness(t, { timeoutMs: 700 })
  for (const fault of [
    { kind: 'drop', commits: true },
    { kind: 'hang', commits: true },
    { kind: 'status', status: 503, commits: false },
    { kind: 'garbage', commits: true },
    { kind: 'slow', ms: 2000 },
  ] as const) {
    fake.faults.always(fault)
    const callsBefore = fake.calls.length
    const startedAt = performance.now()
    await t.rejects(openHostedPage(provider), unknown, fault.kind)
    t.ok(performance.now() - startedAt < 5_000, `${fault.kind} ends in time`)
    // A fault that uses up the time leaves none for another attempt.
    if (fault.kind === 'hang' || fault.kind === 'slow') t.equal(fake.calls.length, callsBefore + 1, fault.kind)
  }
})

t.test('Authorize.Net: a response of an unexpected shape makes the outcome unknown', async (t) => {
  const { fake, provider } = await authorizeNetHarness(t, { timeoutMs: 440 })
  for (const status of [201, 408, 502]) {
    fake.faults.always({ kind: 'status', status, commits: false })
    await t.rejects(openHostedPage(provider), { ...unknown, code: `http_${status}` })
  }
  fake.faults.always({ kind: 'status', status: 200, commits: false })
  await t.rejects(openHostedPage(provider), { ...unknown, code: 'unreadable_answer' }, 'a page of HTML')
})

t.test('Authorize.Net: an HTTP error before the gateway means that nothing was done', async (t) => {
  const { fake, provider } = await authorizeNetHarness(t)
  for (const status of [301, 403, 404]) {
    fake.faults.next({ kind: 'status', status, commits: false })
    await t.rejects(openHostedPage(provider), unavailable, String(status))
  }
  fake.faults.next({ kind: 'status', status: 400, commits: false })
  await t.rejects(openHostedPage(provider), {
    name: 'ProviderError',
    kind: 'rejected',
  } satisfies Partial<ProviderError>)
})

t.test('Authorize.Net: a refused connection makes the provider unavailable', async (t) => {
  const provider = connectTo(t, { origin: `http://127.0.0.1:${await freePort()}`, signatureKey: 'key' })
  await t.rejects(openHostedPage(provider), unavailable)
})

t.test('Authorize.Net: rejected credentials make the provider unavailable', async (t) => {
  const { fake } = await authorizeNetHarness(t)
  const wrongKey = connectTo(t, fake, { transactionKey: 'other' })
  await t.rejects(openHostedPage(wrongKey), { ...unavailable, code: 'E00007' })
})

t.test('Authorize.Net: each error code maps to its kind, and the gateway’s text is not passed on', async (t) => {
  const { fake, provider } = await authorizeNetHarness(t, { timeoutMs: 440 })
  const codes = {
    unavailable: ['E00005', 'E00006', 'E00007', 'E00008', 'E00009', 'E00010', 'E00011', 'E00059', 'E00104', 'E00124'],
    rejected: ['E00003', 'E00004', 'E00013', 'E00014', 'E00015', 'E00099'],
    declined: ['E00027'],
  }
  for (const [kind, list] of Object.entries(codes))
    for (const code of list) {
      fake.failNext(code, { text: 'Text of the provider' })
      const error = await openHostedPage(provider).catch((thrown: unknown) => thrown)
      t.match(error, { name: 'ProviderError', kind, code })
      t.notMatch(error, { message: /Text/ })
    }
  fake.failNext('E00001')
  await t.rejects(openHostedPage(provider), { ...unknown, code: 'E00001' }, 'no time for a retry')
})

t.test('Authorize.Net: a currency that the account does not accept is a currency error', async (t) => {
  const { fake, provider } = await authorizeNetHarness(t)
  for (const code of ['E00013', 'E00027']) {
    fake.failNext(code, {
      text: 'The supplied currency code is either invalid, not supported or not allowed for this merchant.',
    })
    await t.rejects(openHostedPage(provider), { kind: 'currency', code })
  }
})

t.test('Authorize.Net has no test methods', async (t) => {
  const { provider } = await authorizeNetHarness(t)
  t.notOk(provider.isTestMethod('pm_card_visa'))
})
