import { enabledProviders, providerVariables } from '@paylog/commands/provider-calls/enabledProviders'
import { recordedActions } from '@paylog/commands/testing/recordedActions'
import { paymentFold } from '@paylog/domain/payments/fold'
import { subjectNamed } from '@paylog/domain/personalData'
import { providerCustomerFold } from '@paylog/domain/providerCustomer'
import { notificationFold } from '@paylog/domain/providerEvents'
import { keyOfStream } from '@paylog/event-store/codec/partKeys'
import { paymentStream, providerCustomerStream, providerEventStream } from '@paylog/event-store/streamName'
import { presentKeys } from '@paylog/privacy/destroyKeys'
import { loadConfig } from '@paylog/runtime/config/environment'
import { startFakeStripe } from '@paylog/testing/stripe/fakeStripe'
import { eventSamples } from '@paylog/webhooks/testing/paymentFixture'
import t from 'tap'
import { Type } from 'typebox'
import { operatorHarness } from '../testing/operatorHarness.ts'

const stripe = await startFakeStripe(t)
const openProviders = () =>
  enabledProviders(loadConfig(Type.Object(providerVariables), { ...stripe.env, PROVIDER_TIMEOUT_MS: '500' }))
const { get, post, ended, start, eventStore, pool, store } = await operatorHarness(t, { openProviders })
await Promise.all([start('projector'), start('worker')])
const guest_email = 'ada.canary@example.com'
const { keys } = eventStore
const path = '/admin/privacy/erasures'
const erasures = async () => (await get(path)).json().data

const metadata = { correlationId: 'c', causationId: 'c', actor: 'worker' }

await keys.named([`guest:${guest_email}`])
await keys.seen('user:1', guest_email)

t.test('a dry run lists what would go, and changes nothing', async (t) => {
  const started = await post(path, { guest_email, dry_run: true })
  t.equal(started.statusCode, 202)
  t.match(await ended(started.json().data.id), {
    status: 'succeeded',
    is_dry_run: true,
    result: { dry_run: true, keys: 2 },
  })
  t.equal((await keys.find({ email: guest_email })).length, 2)
  t.same(await erasures(), [])
  t.same(await recordedActions(store), [])
})

t.test('an erasure destroys the keys, and only its id is in the job, the list and the audit trail', async (t) => {
  const started = await post(
    path,
    { guest_email },
    { 'x-session-id': 'demo-admin-session', 'x-reason': 'Ticket%204711' },
  )
  const job = await ended(started.json().data.id)
  t.match(job, {
    kind: 'erase',
    is_dry_run: false,
    status: 'succeeded',
    result: { dry_run: false, keys: 2, at_providers: [], behind: [], is_complete: true },
  })
  t.same(await keys.find({ email: guest_email }), [])
  t.match(await erasures(), [{ id: job.subject, kind: 'person', keys: 2, actor: /^session:/ }])
  t.match(await recordedActions(store), [
    {
      data: {
        action: 'erase_person',
        target: { kind: 'erasure', id: job.subject },
        reason: 'Ticket 4711',
        details: { by: 'email', keys: 2 },
      },
    },
  ])
  const { rows } = await pool.query('select jobs::text as text from operations.jobs as jobs')
  const actions = (await recordedActions(store)).map(({ data, metadata }) => ({ data, metadata }))
  t.notMatch(JSON.stringify([rows, actions]), 'canary')
})

/** A user whose only trace is a customer at Stripe. */
async function customerAtStripe(user_id: string) {
  const [provider] = (await openProviders()).values()
  const provider_customer_id = await provider?.methods?.createCustomer({
    user_id,
    idempotency_key: user_id,
    email: guest_email,
    name: null,
  })
  if (provider === undefined || typeof provider_customer_id !== 'string') throw new Error('Stripe made no customer')
  await provider.close()
  const stream = providerCustomerStream('stripe', user_id)
  const data = { provider_id: 'stripe', user_id, provider_customer_id, occurred_at: new Date().toISOString() }
  const decide = () => [{ type: 'ProviderCustomerLinked' as const, data }]
  await store.handle({ stream, fold: providerCustomerFold, decide, metadata })
  await keys.named([`user:${user_id}`])
  const typesOf = async () => (await store.readStream(stream)).map(({ type }) => type)
  return { provider_customer_id, typesOf }
}

t.test('a customer that the provider did not delete is reported, and deleted by a repeated erasure', async (t) => {
  const failures = {
    '500': { fail: () => stripe.faults.always({ kind: 'status', status: 500, commits: false }), outcome: 'unknown' },
    refused: { fail: () => stripe.shut(), outcome: 'unavailable' },
  }
  for (const [name, { fail, outcome }] of Object.entries(failures)) {
    const user_id = `user-${name}`
    const { provider_customer_id, typesOf } = await customerAtStripe(user_id)
    const erase = async () => {
      const { statusCode, json } = await post(path, { user_id })
      t.equal(statusCode, 202, name)
      return await ended(json().data.id)
    }
    fail()
    const job = await erase()
    t.match(job, { status: 'succeeded', result: { keys: 1, behind: [], is_complete: false } }, name)
    t.match(job.result?.at_providers, [{ provider_id: 'stripe', provider_customer_id, outcome, message: /\w/ }], name)
    t.same(await keys.find({ user: user_id }), [], 'the keys are destroyed all the same')
    t.match(await erasures(), [{ id: job.subject, keys: 1 }])
    t.ok(stripe.hasCustomer(provider_customer_id))
    t.same(await typesOf(), ['ProviderCustomerLinked'])
    if (name === 'refused') await stripe.open()
    stripe.faults.always(undefined)
    t.match(await erase(), { result: { keys: 0, at_providers: [{ outcome: 'deleted' }], is_complete: true } }, name)
    t.notOk(stripe.hasCustomer(provider_customer_id))
    t.same(await typesOf(), ['ProviderCustomerLinked', 'ProviderCustomerDeleted'])
  }
})

t.test('an erasure by an e-mail of which nothing is known is done, and finds what was recorded since', async (t) => {
  const erase = async () => await ended((await post(path, { guest_email })).json().data.id)
  t.match(await erase(), { status: 'succeeded', result: { keys: 0, payments: { count: 0 }, is_complete: true } })
  await keys.named([`guest:${guest_email}`])
  t.match(await erase(), { status: 'succeeded', result: { keys: 1, is_complete: true } })
})

/** Records a notification that was stored before it was known which payment it is about. @returns the keys of its body */
async function storedNotification(payment_id: string, named: 'itself' | 'nobody') {
  const stream = providerEventStream('sandbox', `evt_${payment_id}_${named}`)
  const subject = named === 'itself' ? subjectNamed(keyOfStream(stream)) : null
  const { ProviderEventReceived, ProviderEventApplied } = eventSamples
  const applied = { ...ProviderEventApplied, payment_id, payer: { id: 'user-late', type: 'user', email: null } }
  for (const event of [
    { type: 'ProviderEventReceived' as const, data: ProviderEventReceived },
    { type: 'ProviderEventApplied' as const, data: applied },
  ])
    await store.handle({ stream, fold: notificationFold, metadata, subject, decide: () => [event] })
  return (await store.readStream(stream))[0]?.sealed.body ?? []
}

t.test(
  'an erasure reaches notifications that were stored on their own, and reports those of 1.0.0 that it cannot',
  async (t) => {
    const payment_id = '018f0000-0000-7000-8000-00000000000a'
    const payer = { id: 'user-late', type: 'user', email: null }
    const data = { ...eventSamples.PaymentInitiated, payment_id, payer }
    const stream = paymentStream(payment_id)
    await store.handle({ stream, fold: paymentFold, metadata, decide: () => [{ type: 'PaymentInitiated', data }] })
    const [own = ''] = await storedNotification(payment_id, 'itself')
    const [day = ''] = await storedNotification(payment_id, 'nobody')
    const erase = async () => await ended((await post(path, { user_id: payer.id })).json().data.id)
    t.match(await erase(), { result: { keys: 2, behind: ['provider bodies'], is_complete: false } })
    t.same(await presentKeys(pool, [own, day]), [day])
    await keys.destroy([day])
    t.match(await erase(), { result: { keys: 0, behind: [], is_complete: true } }, 'after the end of the retention')
  },
)

t.test('an unknown person is 404, and a request that does not name one person is rejected', async (t) => {
  for (const body of [{ user_id: 'nobody' }, { payment_id: '018f0000-0000-7000-8000-000000000000' }])
    t.match((await post(path, body)).json(), { error: { code: 'not_found' } })
  for (const body of [
    {},
    { user_id: '1', guest_email },
    { guest_email: '' },
    { name: 'Ada' },
    { guest_email, dryRun: true },
  ])
    t.match((await post(path, body)).json(), { error: { code: 'invalid_request' } }, JSON.stringify(body))
})

t.test('with the right privacy erasures can be canceled, and no other job', async (t) => {
  const officer = { 'x-session-id': 'demo-privacy-session' }
  const cancel = (id: string) => post(`/admin/jobs/${id}/cancel`, undefined, officer)
  const started = (await post(path, { guest_email, dry_run: true }, officer)).json().data
  t.equal((await cancel(started.id)).statusCode, 200)
  await ended(started.id)
  const verification = (await post('/admin/projections/disputes/verify')).json().data
  const refused = await cancel(verification.id)
  t.match([refused.statusCode, refused.json().error.details], [403, { right: 'operate' }])
  await ended(verification.id)
})
