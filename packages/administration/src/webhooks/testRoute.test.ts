// POST /admin/webhook-endpoints/{endpoint}/test over HTTP, on a real event store.
import { webhookTestFold } from '@paylog/domain/webhookTest'
import { webhookTestStream } from '@paylog/event-store/streamName'
import { decodeEndpoints } from '@paylog/webhooks/endpoints/endpoints'
import t from 'tap'
import { operatorHarness } from '../testing/operatorHarness.ts'

const { endpoints } = decodeEndpoints({
  WEBHOOK_1_ENABLED: 'true',
  WEBHOOK_1_URL: 'https://shop.example.com/',
  WEBHOOK_1_EVENTS: 'customer.*',
  WEBHOOK_2_ENABLED: 'true',
  WEBHOOK_2_URL: 'https://books.example.com/',
  WEBHOOK_2_EVENT_MODE: 'raw',
})
const { store, post } = await operatorHarness(t, { endpoints })
const test = async (endpoint: string, body?: object, headers: Record<string, string> = {}) => {
  const sent = { 'x-session-id': 'demo-admin-session', ...headers }
  const response = await post(`/admin/webhook-endpoints/${endpoint}/test`, body, sent)
  return { status: response.statusCode, headers: response.headers, ...response.json() }
}
const recorded = async (id: string) => (await store.load(webhookTestStream(id), webhookTestFold)).state

t.test('a test goes to the named endpoint only, whatever its patterns', async (t) => {
  const { status, data, headers } = await test('1', { event: 'payment.failed', test_data: { amount: 5 } })
  t.equal(status, 202)
  t.ok(headers['x-event-position'])
  t.match(data, {
    canonical_events: ['payment.failed'],
    deliveries: [{ node: '1', event: 'payment.failed', mode: 'canonical' }],
  })
  t.equal(data.deliveries.length, 1)
  t.match(await recorded(data.id), { endpoint: '1', amount_cents: 5, requested_by: { type: 'admin' } })
})

t.test('a test without an event has one that the mode of the endpoint lets through', async (t) => {
  t.match((await test('1')).data.deliveries, [{ node: '1', event: 'payment.succeeded', mode: 'canonical' }])
  t.match((await test('2')).data.deliveries, [{ node: '2', event: 'sandbox:payment_intent.succeeded', mode: 'raw' }])
  t.same((await test('2', { event: 'payment.succeeded' })).data.deliveries, [], 'a canonical name for a raw endpoint')
})

t.test('a repeated test with the same key sends nothing again', async (t) => {
  const key = { 'idempotency-key': 'again' }
  const first = await test('1', { event: 'payment.created' }, key)
  const second = await test('1', { event: 'payment.created' }, key)
  t.same([second.status, second.data], [202, first.data])
  t.equal(second.headers['idempotent-replayed'], 'true')
  t.match(await test('1', { event: 'payment.failed' }, key), { error: { code: 'idempotency_key_reused' } })
  t.match((await test('2', { event: 'payment.created' }, key)).status, 202, 'another endpoint is another request')
})

t.test('an unknown endpoint, an unknown event and a card number are errors', async (t) => {
  t.match(await test('3'), { status: 404, error: { code: 'not_found' } })
  t.match(await test('1', { event: 'payment.paid' }), { error: { details: { fields: [{ field: 'event' }] } } })
  t.match(await test('1', { events: 'payment.failed' }), { error: { details: { fields: [{ field: 'events' }] } } })
  t.match(await test('1', { test_data: { note: '4242 4242 4242 4242' } }), { error: { code: 'card_number_rejected' } })
  const headers = { 'x-session-id': 'demo-session' }
  t.match(await test('1', {}, headers), { status: 403 })
})
