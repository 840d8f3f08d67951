// The client against the whole system.
import { startFakeEndpoint } from '@paylog/testing/fakeEndpoint'
import { startSystem } from '@paylog/testing/system'
import { waitFor } from '@paylog/testing/waitFor'
import t from 'tap'
import { createPaylogClient, type Schemas } from './client.ts'
import { PaylogError } from './errors.ts'
import { verifyWebhook } from './verifyWebhook.ts'

const secret = `whsec_${Buffer.alloc(24, 7).toString('base64')}`
const endpoint = await startFakeEndpoint(t)
const { baseUrl } = await startSystem(t, {
  WEBHOOK_1_ENABLED: 'true',
  WEBHOOK_1_URL: endpoint.url,
  WEBHOOK_1_SECRET: secret,
  WEBHOOK_1_EVENT_MODE: 'both',
})
const paylog = createPaylogClient({ baseUrl, credential: { session: 'demo-session' } })
const administrator = createPaylogClient({ baseUrl, headers: { authorization: 'Bearer demo-admin-session' } })

const newPayment: Schemas['NewPayment'] = { total_cents: 2599, currency: 'EUR', provider_id: 'sandbox' }
const thrown = (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    () => undefined,
    (error: unknown) => error,
  )

t.test('a call returns body, status and headers of the success, and a read follows the write', async (t) => {
  const { body, status, headers } = await paylog.createPaymentIntent({ body: newPayment })
  const payment: Schemas['Payment'] = body.data
  t.equal(status, 201)
  const header = { 'x-read-after': headers.get('x-event-position') ?? '' }
  const list = await paylog.listPayments({ query: { status: 'pending', limit: 1, search: undefined }, header })
  t.match(list.body, { data: [{ id: payment.id }], meta: { total: 1, hasMore: false } })
  const one = await paylog.getPayment({ path: { id: payment.id } })
  t.match(one.body.data, { id: payment.id, amount_cents: 2599 })
  t.match(one.headers.get('etag'), /^"\d+"$/)
  t.match((await administrator.listAnyPayments()).body.data, [{ id: payment.id, attention: false }])
})

t.test('a call with the same Idempotency-Key is executed once, and one with another body is an error', async (t) => {
  const header = { 'idempotency-key': 'order-1' }
  const first = await paylog.createPaymentIntent({ body: newPayment, header })
  const second = await paylog.createPaymentIntent({ body: newPayment, header })
  t.equal(second.body.data.id, first.body.data.id)
  t.equal(second.headers.get('idempotent-replayed'), 'true')
  const reused = await thrown(paylog.createPaymentIntent({ body: { ...newPayment, total_cents: 1 }, header }))
  t.match(reused, { code: 'idempotency_key_reused', status: 422 })
})

t.test('an error response is thrown with code, details and the id of the request', async (t) => {
  const error = await thrown(paylog.createPaymentIntent({ body: { currency: 'Euro' } }))
  t.type(error, PaylogError)
  t.match(error, {
    code: 'invalid_request',
    status: 400,
    message: /currency/,
    details: { fields: [{ field: 'currency' }] },
    request_id: /^[0-9a-f-]{36}$/,
  })
  t.match(await thrown(paylog.listAnyPayments()), { code: 'forbidden', status: 403 })
  t.match(await thrown(createPaylogClient({ baseUrl }).listPayments()), { code: 'unauthenticated', status: 401 })
  const changed = { path: { id: 'none' }, header: { 'if-match': '"1"' }, body: { alias: 'Home' } }
  t.match(await thrown(paylog.updateAddress(changed)), { code: 'not_found' })
})

t.test('a guest uses a guest token, and an anonymous client creates a payment', async (t) => {
  const guest = createPaylogClient({ baseUrl, credential: { guest_token: 'demo-guest-token' } })
  t.match((await guest.listAddresses()).body.user_context, { user_type: 'guest' })
  const { body } = await createPaylogClient({ baseUrl }).createPaymentIntent({
    body: { ...newPayment, guest_data: { email: 'guest@example.com' } },
  })
  t.equal(body.data.is_guest_payment, true)
})

t.test('bodies that are not objects, or not JSON, are returned as they are', async (t) => {
  t.ok(Array.isArray((await paylog.listWebhookLogs()).body))
  t.match((await paylog.getMetrics()).body, /^# HELP /)
  t.match((await paylog.getReadiness()).body, { status: 'ready' })
})

t.test('verifyWebhook accepts what the worker sends, and says what it is', async (t) => {
  const seen = endpoint.received.length
  await paylog.testWebhooks({ body: { event: 'payment.refunded', test_data: { amount: 700, currency: 'EUR' } } })
  await waitFor(() => endpoint.received.length > seen, { what: 'the test' })
  const messages = endpoint.received.map(({ body, headers }) => verifyWebhook(body, headers, secret))
  const refunded = messages.find(({ event, test }) => event === 'payment.refunded' && test)
  t.match(refunded, { data: { refund: { amount: 700, status: 'succeeded' } } })
  t.ok(messages.some(({ event, test }) => event === 'payment.created' && !test))
})
