import { once } from 'node:events'
import { createServer as createTcpServer } from 'node:net'
import { createEndpoint } from '@paylog/testing/endpoint'
import { freePort } from '@paylog/testing/processes'
import t, { type Test } from 'tap'
import { createEndpointAgent, postWebhook, type SuccessStatus } from './postWebhook.ts'

function poster(t: Test, allowed: readonly string[] = ['127.0.0.0/8']) {
  const agent = createEndpointAgent(allowed)
  t.teardown(() => agent.destroy())
  return (url: string, more: { timeoutMs?: number; successStatus?: SuccessStatus; signal?: AbortSignal } = {}) =>
    postWebhook({
      agent,
      url,
      headers: { 'webhook-id': 'id-1' },
      body: '{"a":1}',
      timeoutMs: 2_000,
      successStatus: '200',
      signal: new AbortController().signal,
      ...more,
    })
}

t.test('status 200 is a success, and the start of the answer is kept', async (t) => {
  const endpoint = await createEndpoint(t, (response) => response.end('x'.repeat(20_000)))
  const result = await poster(t)(endpoint.url)
  t.match(result, { httpStatus: 200, error: null })
  t.equal(result.responseBody?.length, 16_384)
  t.match(endpoint.received, [{ id: 'id-1', body: '{"a":1}', headers: { 'content-type': 'application/json' } }])
})

t.test('connections are used again', async (t) => {
  const ports = new Set<number | undefined>()
  const endpoint = await createEndpoint(t, (response, _, request) => {
    ports.add(request.socket.remotePort)
    response.end('ok')
  })
  const post = poster(t)
  for (let count = 0; count < 5; count++) await post(endpoint.url)
  t.ok(ports.size < 3, `${ports.size} connections for 5 requests`)
})

t.test('another 2xx is a success only where the operator says so', async (t) => {
  const endpoint = await createEndpoint(t, (response) => response.writeHead(204).end())
  const post = poster(t)
  t.match(await post(endpoint.url), { httpStatus: 204, error: 'unexpected_status' })
  t.match(await post(endpoint.url, { successStatus: '2xx' }), { httpStatus: 204, error: null })
})

t.test('every other answer is a failure, and a redirect is not followed', async (t) => {
  const elsewhere = await createEndpoint(t)
  const post = poster(t)
  for (const status of [301, 302, 307, 308]) {
    const endpoint = await createEndpoint(t, (response) =>
      response.writeHead(status, { location: elsewhere.url }).end(),
    )
    t.match(await post(endpoint.url, { successStatus: '2xx' }), { httpStatus: status, error: 'redirect' })
  }
  t.equal(elsewhere.received.length, 0)
  for (const status of [400, 404, 410, 429, 500, 503]) {
    const endpoint = await createEndpoint(t, (response) => response.writeHead(status).end('no'))
    t.match(await post(endpoint.url), { httpStatus: status, error: 'unexpected_status', responseBody: 'no' })
  }
})

t.test('an endpoint that does not answer in time has failed, and is not waited for', async (t) => {
  const endpoint = await createEndpoint(t, () => undefined)
  const before = performance.now()
  t.match(await poster(t)(endpoint.url, { timeoutMs: 200 }), { httpStatus: null, error: 'timeout' })
  t.ok(performance.now() - before < 1_500)
})

t.test('an endpoint may take its time, up to the timeout', async (t) => {
  const endpoint = await createEndpoint(t, (response) => {
    setTimeout(() => response.writeHead(200).write('late'), 1_100)
    setTimeout(() => response.end(' and later'), 2_200)
  })
  const result = await poster(t)(endpoint.url, { timeoutMs: 30_000 })
  t.match(result, { httpStatus: 200, error: null, responseBody: 'late and later' })
})

t.test('an answer that never ends is cut at the timeout or the limit; its status counts', async (t) => {
  const trickle = await createEndpoint(t, (response) => {
    response.writeHead(200).write('first')
  })
  const post = poster(t)
  t.match(await post(trickle.url, { timeoutMs: 300 }), { httpStatus: 200, error: null, responseBody: 'first' })
  const flood = await createEndpoint(t, (response) => {
    const chunk = Buffer.alloc(64 * 1024, 'x')
    const pour = () => {
      while (!response.destroyed && response.write(chunk));
      if (!response.destroyed) response.once('drain', pour)
    }
    pour()
  })
  const result = await post(flood.url)
  t.match(result, { httpStatus: 200, error: null })
  t.equal(result.responseBody?.length, 16_384)
})

t.test('what the network does has a class', async (t) => {
  const post = poster(t)
  t.match(await post(`http://127.0.0.1:${await freePort()}/`), { httpStatus: null, error: 'connection_refused' })
  t.match(await post('http://nowhere.invalid/'), { error: 'dns' })
  const resetting = await createEndpoint(t, (response) => response.destroy())
  t.match(await post(resetting.url), { httpStatus: null, error: 'connection_reset', responseBody: null })
  const babbling = createTcpServer((socket) => socket.on('error', () => undefined).end('not http at all\r\n\r\n'))
  babbling.listen(0, '127.0.0.1')
  await once(babbling, 'listening')
  t.teardown(() => babbling.close())
  const address = babbling.address()
  const port = typeof address === 'object' ? address?.port : 0
  t.match(await post(`http://127.0.0.1:${port}/`), { error: 'invalid_response' })
  t.match(await post(`https://127.0.0.1:${port}/`), { error: 'tls' })
})

t.test('a forbidden address is never connected to, however it is written', async (t) => {
  const endpoint = await createEndpoint(t)
  const { port } = new URL(endpoint.url)
  const post = poster(t, [])
  const hosts = ['127.0.0.1', 'localhost', '2130706433', '0x7f.1', '127.1', '[::1]', '[::ffff:127.0.0.1]', '0.0.0.0']
  for (const host of hosts) t.match(await post(`http://${host}:${port}/`), { error: 'forbidden_address' }, host)
  t.equal(endpoint.received.length, 0)
  const allowing = poster(t, ['127.0.0.0/8'])
  t.match(await allowing(`http://localhost:${port}/`), { httpStatus: 200 }, 'and a name reaches what is allowed')
})

t.test('an abort from outside is thrown, because nothing is known then', async (t) => {
  const endpoint = await createEndpoint(t, () => undefined)
  await t.rejects(poster(t)(endpoint.url, { signal: AbortSignal.timeout(100) }), { name: 'TimeoutError' })
})
