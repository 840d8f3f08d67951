// The sandbox's intents, with a memory that several processes share.
import { randomUUID } from 'node:crypto'
import { createTestDatabase } from '@paylog/testing/testDatabase'
import t from 'tap'
import type { CreateIntent, Provider } from '../provider.ts'
import { createRequest, refTo } from '../testing/requests.ts'
import { createLocalMemory, type SandboxMemory } from './memory.ts'
import { signSandboxEvent } from './notifications.ts'
import { createPostgresMemory } from './postgresMemory.ts'
import { createSandbox } from './sandbox.ts'

const secret = 'sandbox-secret'
const { databaseUrl } = await createTestDatabase(t)
const postgres = createPostgresMemory({ databaseUrl, timeoutMs: 5_000 })
t.teardown(() => postgres.close())

const memories: Readonly<Record<string, SandboxMemory>> = { local: createLocalMemory(), postgres }

type Wanted = Partial<CreateIntent>
const request = (wanted: Wanted = {}): CreateIntent => {
  const payment_id = randomUUID()
  return { ...createRequest, payment_id, idempotency_key: payment_id, ...wanted }
}

async function open(provider: Provider, wanted: Wanted = {}) {
  const { payment_id, capture_method, currency } = request(wanted)
  const { provider_intent_id } = await provider.createIntent(
    request({ ...wanted, payment_id, idempotency_key: payment_id }),
  )
  return refTo(provider_intent_id, { payment_id, capture_method, currency })
}

const nowSeconds = () => Math.floor(Date.now() / 1000)

async function notify(provider: Provider, type: string, object: object, created = nowSeconds()) {
  const base = { amount: 2599, currency: 'eur', status: null, customer: null }
  const event = { id: `evt_${randomUUID()}`, type, created, data: { object: { ...base, ...object } } }
  const body = Buffer.from(JSON.stringify(event))
  const headers = { 'sandbox-signature': signSandboxEvent(secret, body, nowSeconds()) }
  await provider.verifyNotification({ body, headers, now: new Date() })
  return provider.readNotification(body)
}

const refundOf = (amount_cents: number, refund_id: string = randomUUID()) =>
  ({
    refund_id,
    idempotency_key: refund_id,
    amount_cents,
    is_whole: false,
    reason: 'other',
    requested_at: new Date().toISOString(),
    is_repeated: false,
  }) as const

for (const [name, memory] of Object.entries(memories)) {
  const sandboxOf = () => createSandbox({ webhookSecrets: [secret], memory })
  const provider = sandboxOf()
  const snapshot = async (ref: Awaited<ReturnType<typeof open>>) => await provider.retrieveIntent?.(ref)

  t.test(`sandbox, ${name} memory: an intent is found by another process with the same memory`, async (t) => {
    const ref = await open(sandboxOf())
    t.match(await snapshot(ref), { report: { status: 'pending', amount_cents: 2599, currency: 'EUR' }, refunds: [] })
    const [found, ...more] = (await provider.findIntents?.(ref.payment_id)) ?? []
    t.same(more, [])
    t.match(found, { provider_intent_id: ref.provider_intent_id, status: 'pending', client_secret: /_secret_/ })
    t.same(await provider.findIntents?.(randomUUID()), [])
    t.equal(await snapshot({ ...ref, provider_intent_id: `sandbox_pi_${randomUUID()}` }), null)
  })

  t.test(`sandbox, ${name} memory: a repeated create call changes nothing`, async (t) => {
    const ref = await open(provider)
    await notify(provider, 'payment_intent.succeeded', { id: ref.provider_intent_id })
    await provider.createIntent(request({ payment_id: ref.payment_id, idempotency_key: ref.payment_id }))
    t.match(await snapshot(ref), { report: { status: 'succeeded' } })
  })

  t.test(`sandbox, ${name} memory: a signed notification is remembered, a late one is not`, async (t) => {
    const ref = await open(provider)
    const id = ref.provider_intent_id
    await notify(provider, 'payment_intent.failed', { id })
    t.match(await snapshot(ref), { report: { status: 'failed', failure_code: 'card_declined' } })
    await notify(provider, 'payment_intent.processing', { id }, nowSeconds() - 60)
    t.match(await snapshot(ref), { report: { status: 'failed' } })
    await notify(provider, 'payment_intent.succeeded', { id, amount: 2600 }, nowSeconds() - 60)
    await notify(provider, 'payment_intent.canceled', { id })
    t.match(await snapshot(ref), {
      report: { status: 'succeeded', amount_cents: 2600, provider_payment_id: id.replace('_pi_', '_ch_') },
    })
    const unknown = { ...ref, provider_intent_id: `sandbox_pi_${randomUUID()}` }
    await notify(provider, 'payment_intent.succeeded', { id: unknown.provider_intent_id, amount: 7 })
    t.match(await snapshot(unknown), { report: { status: 'succeeded', amount_cents: 7 } })
  })

  t.test(`sandbox, ${name} memory: an unpaid intent is canceled, a paid one is not`, async (t) => {
    const key = { idempotency_key: 'k' }
    const ref = await open(provider)
    for (let call = 1; call <= 2; call++)
      t.match(await provider.cancelIntent({ ...ref, ...key }), { report: { status: 'canceled' } })
    t.match(await snapshot(ref), { report: { status: 'canceled' } })
    const paid = await open(provider)
    await notify(provider, 'payment_intent.succeeded', { id: paid.provider_intent_id })
    t.match(await provider.cancelIntent({ ...paid, ...key }), { report: { status: 'succeeded' } })
    const started = await open(provider)
    await notify(provider, 'payment_intent.processing', { id: started.provider_intent_id })
    t.match(await provider.cancelIntent({ ...started, ...key }), { report: { status: 'processing' } })
    t.equal(await provider.cancelIntent({ ...ref, ...key, provider_intent_id: `sandbox_pi_${randomUUID()}` }), null)
  })

  t.test(`sandbox, ${name} memory: an approved intent is captured once`, async (t) => {
    const ref = { ...(await open(provider, { provider_method_id: 'pm_card_approval' })), idempotency_key: 'k' }
    await notify(provider, 'payment_intent.processing', { id: ref.provider_intent_id, status: 'approved' })
    t.match(await snapshot(ref), { awaits_capture: true, report: { status: 'processing' } })
    for (let call = 1; call <= 2; call++)
      t.match(await provider.captureIntent?.(ref), { awaits_capture: false, report: { status: 'succeeded' } })
  })

  t.test(`sandbox, ${name} memory: an approved intent with manual capture is authorized, then captured`, async (t) => {
    const ref = { ...(await open(provider, { capture_method: 'manual' })), idempotency_key: 'k' }
    await notify(provider, 'payment_intent.processing', { id: ref.provider_intent_id, status: 'approved' })
    const authorized = await provider.captureIntent?.(ref)
    t.match(authorized, { awaits_capture: false, report: { status: 'processing', capturable_cents: 2599 } })
    const tooMuch = provider.captureAuthorized?.({ ...ref, amount_cents: 2600 })
    await t.rejects(async () => tooMuch, { kind: 'rejected', code: 'amount_too_large' })
    for (let call = 1; call <= 2; call++)
      t.match(await provider.captureAuthorized?.({ ...ref, amount_cents: 2000 }), {
        report: { status: 'succeeded', amount_cents: 2000 },
      })
    const canceled = { ...(await open(provider, { capture_method: 'manual' })), idempotency_key: 'k' }
    const hold = { id: canceled.provider_intent_id, amount_capturable: 2599 }
    t.match(await notify(provider, 'payment_intent.processing', hold), { report: { capturable_cents: 2599 } })
    t.match(await provider.cancelIntent(canceled), { report: { status: 'canceled' } })
    t.match(await provider.captureAuthorized?.({ ...canceled, amount_cents: 1 }), { report: { status: 'canceled' } })
  })

  t.test(`sandbox, ${name} memory: refunds succeed once each, up to what was received`, async (t) => {
    const ref = await open(provider)
    const [first, second] = [refundOf(2000), refundOf(600)]
    await t.rejects(async () => provider.refund?.({ ...ref, ...first }), { kind: 'rejected', code: 'refund_too_large' })
    await notify(provider, 'payment_intent.succeeded', { id: ref.provider_intent_id })
    for (let call = 1; call <= 2; call++)
      t.match(await provider.refund?.({ ...ref, ...first }), { status: 'succeeded', amount_cents: 2000 })
    await t.rejects(async () => provider.refund?.({ ...ref, ...second }), { code: 'refund_too_large' })
    const both = [refundOf(400), refundOf(400)].map(async (refund) => provider.refund?.({ ...ref, ...refund }))
    const ended = await Promise.allSettled(both)
    t.same(ended.map(({ status }) => status).toSorted(), ['fulfilled', 'rejected'], 'two at once')
    t.match((await snapshot(ref))?.refunds, [{ refund_id: first.refund_id }, { amount_cents: 400 }])
    const unknown = { ...ref, provider_intent_id: `sandbox_pi_${randomUUID()}` }
    await t.rejects(async () => provider.refund?.({ ...unknown, ...refundOf(1) }), { code: 'intent_not_found' })
  })

  t.test(`sandbox, ${name} memory: a refund with pm_card_refundFails is pending until it fails`, async (t) => {
    const ref = await open(provider, { provider_method_id: 'pm_card_refundFails' })
    await notify(provider, 'payment_intent.succeeded', { id: ref.provider_intent_id })
    const refund = refundOf(2599)
    const pending = await provider.refund?.({ ...ref, ...refund })
    t.match(pending, { status: 'pending', refund_id: refund.refund_id, provider_intent_id: ref.provider_intent_id })
    const object = { payment_intent: ref.provider_intent_id, failure_code: 'account_closed' }
    const id = pending?.provider_refund_id
    await notify(provider, 'refund.updated', { id, ...object, status: 'failed' })
    await notify(provider, 'refund.updated', { id, ...object, status: 'succeeded' })
    t.match((await snapshot(ref))?.refunds, [{ status: 'failed', failure_code: 'account_closed', amount_cents: 2599 }])
    t.match(await provider.refund?.({ ...ref, ...refundOf(2599) }), { status: 'pending' }, 'its amount is free again')
  })
}

t.test('sandbox: without a shared memory it cannot be queried, and accepts any refund and capture', async (t) => {
  const provider = createSandbox({ webhookSecrets: [secret] })
  t.match(provider, { retrieveIntent: null, findIntents: null, captureIntent: null })
  const ref = await open(createSandbox({ webhookSecrets: [secret] }), { capture_method: 'manual' })
  const [first, second] = [refundOf(100), refundOf(200)]
  for (const refund of [first, second, first])
    t.match(await provider.refund?.({ ...ref, ...refund }), { status: 'succeeded', amount_cents: refund.amount_cents })
  t.match(await provider.captureAuthorized?.({ ...ref, idempotency_key: 'k', amount_cents: 7 }), {
    report: { status: 'succeeded', amount_cents: 7 },
  })
})

t.test('sandbox: a memory without a database is an unknown outcome', async (t) => {
  const memory = createPostgresMemory({ databaseUrl: 'postgres://127.0.0.1:1/none', timeoutMs: 500 })
  const provider = createSandbox({ webhookSecrets: [secret], memory })
  t.teardown(() => provider.close())
  const failing = { name: 'ProviderError', kind: 'unknown', code: 'sandbox_memory' }
  for (let call = 1; call <= 2; call++) await t.rejects(provider.createIntent(request()), failing)
})
