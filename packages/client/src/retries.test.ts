import { createServer, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { listen } from '@paylog/testing/fakeServer'
import t, { type Test } from 'tap'
import { createPaylogClient, type PaylogClientOptions } from './client.ts'
import { PaylogConnectionError, PaylogError } from './errors.ts'

type Reply = (response: ServerResponse) => void
type ReceivedRequest = { readonly key: string | undefined; readonly body: string; readonly at: number }

const success: Reply = (response) =>
  response.writeHead(200, { 'content-type': 'application/json' }).end('{"success":true,"data":{"id":"p1"}}')

const failure =
  (status: number, code: string, headers: Readonly<Record<string, string>> = {}): Reply =>
  (response) => {
    const error = { code, message: `This is ${code}`, details: { payment_id: 'p1' }, request_id: 'r1' }
    const type = { 'content-type': 'application/json; charset=utf-8' }
    response.writeHead(status, { ...type, ...headers }).end(JSON.stringify({ success: false, error }))
  }
const reset: Reply = (response) => void response.socket?.resetAndDestroy()
const breakInBody: Reply = (response) => {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' }).write('{"success":')
  setImmediate(() => response.socket?.destroy())
}
const hang: Reply = () => undefined

/** A client of a server that gives these replies, and then successes. */
async function flakyApi(t: Test, replies: readonly Reply[], options: Partial<PaylogClientOptions> = {}) {
  const requests: ReceivedRequest[] = []
  const server = createServer(async (request, response) => {
    const at = performance.now()
    const body = await text(request)
    requests.push({ key: request.headers['idempotency-key']?.toString(), body, at })
    const reply = replies[requests.length - 1] ?? success
    reply(response)
  })
  const baseUrl = await listen(t, server)
  return { requests, paylog: createPaylogClient({ baseUrl, credential: { session: 's' }, ...options }) }
}

const path = { id: 'p1' }
const body = { total_cents: 100, currency: 'EUR' }
const unavailable = failure(503, 'service_unavailable')

for (const [name, fault] of Object.entries({
  'a reset connection': reset,
  'a connection that breaks in the body': breakInBody,
  408: failure(408, 'invalid_request'),
  503: unavailable,
  504: failure(504, 'provider_outcome_unknown'),
}))
  t.test(`GET and POST are sent again after ${name}`, async (t) => {
    const { paylog, requests } = await flakyApi(t, [fault, success, fault, success])
    t.match(await paylog.getPayment({ path }), { status: 200, body: { data: { id: 'p1' } } })
    t.match(await paylog.createPaymentIntent({ body }), { status: 200, body: { data: { id: 'p1' } } })
    const [, , first, second] = requests
    t.equal(requests.length, 4)
    t.match(first?.key, /^[0-9a-f]{32}$/)
    t.same({ key: second?.key, body: second?.body }, { key: first?.key, body: JSON.stringify(body) })
  })

t.test('two calls without a key get different keys, and a key of the caller is kept', async (t) => {
  const { paylog, requests } = await flakyApi(t, [success, success, reset])
  await paylog.createRefund({ path })
  await paylog.createRefund({ path })
  await paylog.createRefund({ path, header: { 'idempotency-key': 'mine' } })
  await paylog.createRefund({ path, header: { 'idempotency-key': undefined } })
  const [first, second, mine, sameKey, other] = requests.map(({ key }) => key)
  t.not(first, second)
  t.same([mine, sameKey], ['mine', 'mine'])
  t.match(other, /^[0-9a-f]{32}$/)
})

t.test('writes without an Idempotency-Key are sent once', async (t) => {
  const { paylog, requests } = await flakyApi(t, [reset, unavailable, unavailable])
  await t.rejects(paylog.cancelPayment({ path }), PaylogConnectionError)
  await t.rejects(paylog.updateAddress({ path, body: { alias: 'Home' } }), { code: 'service_unavailable' })
  await t.rejects(paylog.deleteAddress({ path }), { code: 'service_unavailable' })
  t.same(
    requests.map(({ key }) => key),
    [undefined, undefined, undefined],
  )
})

t.test('the last error is thrown, with code, details and request id, when the retries are used up', async (t) => {
  const { paylog, requests } = await flakyApi(t, [reset, unavailable, unavailable], { maxRetries: 2 })
  const error = await paylog.createPaymentIntent({ body }).catch((thrown: unknown) => thrown)
  t.type(error, PaylogError)
  t.match(error, {
    status: 503,
    code: 'service_unavailable',
    message: 'This is service_unavailable',
    details: { payment_id: 'p1' },
    request_id: 'r1',
  })
  t.equal(requests.length, 3)
  const pauses = requests.slice(1).map(({ at }, index) => at - (requests[index]?.at ?? 0))
  t.ok(
    pauses[0] !== undefined && pauses[0] >= 240 && pauses[1] !== undefined && pauses[1] >= 490,
    'with growing pauses',
  )
})

t.test('no response at all is a PaylogConnectionError with its cause', async (t) => {
  const { paylog, requests } = await flakyApi(t, [reset, reset], { maxRetries: 1 })
  await t.rejects(paylog.getPayment({ path }), { name: 'PaylogConnectionError', cause: Error })
  t.equal(requests.length, 2)
})

t.test('an attempt that takes longer than the time-out is ended and sent again', async (t) => {
  const { paylog, requests } = await flakyApi(t, [hang, success, hang], { timeoutMs: 200, maxRetries: 1 })
  t.match(await paylog.createRefund({ path }), { status: 200 })
  t.equal(requests[0]?.key, requests[1]?.key)
  t.match(await paylog.getPayment({ path, timeoutMs: 400 }), { status: 200 })
  const [third, fourth] = requests.slice(2)
  t.ok(third && fourth && fourth.at - third.at >= 600, 'a call has its own time-out')
})

t.test('429 waits for its Retry-After, and without one it is thrown', async (t) => {
  const limited = failure(429, 'rate_limited', { 'retry-after': '1' })
  const { paylog, requests } = await flakyApi(t, [limited, success, failure(429, 'rate_limited')])
  await paylog.getPayment({ path })
  const [first, second] = requests
  t.ok(first && second && second.at - first.at >= 1_000)
  await t.rejects(paylog.getPayment({ path }), { status: 429, code: 'rate_limited' })
  t.equal(requests.length, 3)
})

t.test('a Retry-After of more than a minute is left to the caller', async (t) => {
  const { paylog, requests } = await flakyApi(t, [failure(503, 'service_unavailable', { 'retry-after': '3600' })])
  const error = await paylog.getPayment({ path }).catch((thrown: unknown) => thrown)
  t.equal(error instanceof PaylogError && error.headers.get('retry-after'), '3600')
  t.equal(requests.length, 1)
})

t.test('409 is sent again only while the first request with its key is in progress', async (t) => {
  const { paylog, requests } = await flakyApi(t, [
    failure(409, 'idempotency_key_in_flight'),
    success,
    failure(409, 'payment_not_refundable'),
  ])
  await paylog.createRefund({ path })
  await t.rejects(paylog.createRefund({ path }), { code: 'payment_not_refundable' })
  t.equal(requests.length, 3)
})

t.test('an aborted call throws the reason of its signal, in an attempt and in a pause', async (t) => {
  const { paylog, requests } = await flakyApi(t, [hang, unavailable])
  for (const attempts of [1, 2]) {
    const reason = new Error('not needed any more')
    const stop = new AbortController()
    const call = paylog.getPayment({ path, signal: stop.signal })
    setTimeout(() => stop.abort(reason), 150)
    t.equal(await call.catch((thrown: unknown) => thrown), reason)
    t.equal(requests.length, attempts)
  }
})

t.test('a response that is not from the API is an unexpected_response', async (t) => {
  const proxy: Reply = (response) =>
    response.writeHead(502, { 'content-type': 'text/html' }).end('<h1>Bad gateway</h1>')
  const { paylog } = await flakyApi(t, [proxy])
  await t.rejects(paylog.getPayment({ path }), { status: 502, code: 'unexpected_response', request_id: null })
})
