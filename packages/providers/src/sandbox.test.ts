import t from 'tap'
import type { ProviderError } from './provider.ts'
import { createSandbox } from './sandbox.ts'
import { signSandboxEvent } from './sandboxSignature.ts'

const secret = 'sandbox-secret'
const now = new Date('2026-01-01T12:00:00.000Z')
const nowSeconds = now.getTime() / 1000
const sandbox = createSandbox({ webhookSecrets: [secret, 'next-secret'] })

const event = (type: string, object: object = {}, more: object = {}) =>
  JSON.stringify({
    id: 'evt_1',
    type,
    provider: 'sandbox',
    created: nowSeconds,
    data: {
      object: { id: 'sandbox_pi_1', amount: 2599, currency: 'eur', status: 'succeeded', customer: null, ...object },
    },
    ...more,
  })
async function read(body: string | Buffer, header: string | string[] | undefined) {
  await sandbox.verifyNotification({ body: Buffer.from(body), headers: { 'sandbox-signature': header }, now })
  return sandbox.readNotification(Buffer.from(body))
}
const signed = (body: string, by = secret) => read(body, signSandboxEvent(by, body, nowSeconds))

const intent = {
  payment_id: '018f0000-0000-7000-8000-000000000001',
  idempotency_key: '018f0000-0000-7000-8000-000000000001',
  amount_cents: 2599,
  currency: 'EUR',
  description: null,
  provider_method_id: null,
  provider_customer_id: null,
}

t.test('the same key gives the same intent, another key another one', async (t) => {
  const first = await sandbox.createIntent(intent)
  t.same(await sandbox.createIntent(intent), first)
  t.not(
    (await sandbox.createIntent({ ...intent, idempotency_key: 'other' })).provider_intent_id,
    first.provider_intent_id,
  )
  t.ok(first.client_secret)
})

t.test('the declined card is declined', async (t) => {
  const declined = sandbox.createIntent({ ...intent, provider_method_id: 'pm_card_declined' })
  await t.rejects(declined, { name: 'ProviderError', kind: 'declined' } satisfies Partial<ProviderError>)
})

t.test('a signed event becomes evidence about its intent', async (t) => {
  const notification = await signed(event('payment_intent.succeeded'))
  t.match(notification, {
    provider_event_id: 'evt_1',
    provider_type: 'payment_intent.succeeded',
    generic_type: 'payment_intent.succeeded',
    occurred_at: now.toISOString(),
    currency: 'EUR',
    statement: {
      about: 'status',
      status: 'succeeded',
      provider_intent_id: 'sandbox_pi_1',
      amount_cents: 2599,
      provider_payment_id: 'sandbox_ch_1',
    },
  })
  const failed = await signed(event('payment_intent.failed'))
  t.match(failed.statement, { status: 'failed', failure_code: 'card_declined', provider_payment_id: null })
  const created = await signed(event('payment_intent.created'))
  t.match(created.statement, { about: 'mention', provider_intent_id: 'sandbox_pi_1' })
})

t.test('events about other things are notifications without a statement about a payment', async (t) => {
  for (const type of ['subscription.created', 'customer.updated', 'something.new'])
    t.equal((await signed(event(type))).statement, null, type)
})

t.test('either secret is valid during a rotation', async (t) => {
  await signed(event('customer.created'), 'next-secret')
  await t.rejects(signed(event('customer.created'), 'old-secret'), { code: 'invalid_signature' })
})

t.test('what is not signed as it came is refused', async (t) => {
  const body = event('payment_intent.succeeded')
  const header = signSandboxEvent(secret, body, nowSeconds)
  const refused = { code: 'invalid_signature' }
  await t.rejects(read(body, undefined), refused, 'no header')
  await t.rejects(read(body, ''), refused, 'an empty header')
  await t.rejects(read(body, [header, header]), refused, 'two headers')
  await t.rejects(read(body, header.replace('v1=', 'v0=')), refused, 'another scheme')
  await t.rejects(read(body, header.slice(0, -1)), refused, 'a short digest')
  await t.rejects(read(body, `t=${nowSeconds + 1}${header.slice(header.indexOf(','))}`), refused, 'another time')
  await t.rejects(read(`${body} `, header), refused, 'another body')
  await t.rejects(read(body, signSandboxEvent(secret, body, nowSeconds - 301)), refused, 'too old')
  for (const age of [-300, 300])
    await t.resolves(read(body, signSandboxEvent(secret, body, nowSeconds - age)), 'just in time')
  await t.rejects(read(body, signSandboxEvent(secret, body, nowSeconds + 301)), refused, 'too far ahead')
})

t.test('a signed body that is no event is malformed', async (t) => {
  const malformed = { code: 'invalid_request' }
  await t.rejects(signed('not json'), malformed)
  await t.rejects(signed('[]'), malformed)
  await t.rejects(signed(event('payment_intent.succeeded', { amount: '2599' })), malformed, 'an amount that is text')
  await t.rejects(signed(event('payment_intent.succeeded', { id: 'a\u0000b' })), malformed, 'a control character')
  await t.rejects(signed(event('payment_intent.succeeded', {}, { created: 1e15 })), malformed, 'a time that is none')
  const invalid = Buffer.from([0x7b, 0xff, 0x7d])
  await t.rejects(read(invalid, signSandboxEvent(secret, invalid, nowSeconds)), malformed, 'not UTF-8')
})
