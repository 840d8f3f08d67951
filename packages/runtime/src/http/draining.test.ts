import { waitFor } from '@paylog/testing/waitFor'
import t, { type Test } from 'tap'
import { createHealth } from '../process/health.ts'
import { createLog } from '../telemetry/log.ts'
import { connectRaw } from '../testing/rawClient.ts'
import { requestsInFlight } from './handlers.ts'
import { createHttp } from './http.ts'

/** Longer than the close waits for incomplete requests. */
const soonMs = 8_000

async function startServer(t: Test) {
  const http = createHttp({ log: createLog({ app: 'test', level: 'silent' }) })
  const slow: (() => void)[] = []
  await http.register(createHealth().plugin)
  http.get('/quick', async () => ({ ok: true }))
  http.get('/slow', async () => {
    await new Promise<void>((resolve) => slow.push(resolve))
    return { ok: true }
  })
  http.post('/body', async () => ({ ok: true }))
  const url = await http.listen({ host: '127.0.0.1', port: 0 })
  t.teardown(() => http.close())
  return { http, slow, client: () => connectRaw(t, url) }
}

t.test('close finishes requests in flight and closes their connections', async (t) => {
  const { http, slow, client } = await startServer(t)
  const [active, idle] = [await client(), await client()]
  idle.get('/quick')
  await waitFor(() => idle.received().includes('ok'), { what: 'the first response' })
  t.match(idle.received(), /connection: keep-alive/i)
  active.get('/slow')
  await waitFor(() => slow.length === 1, { what: 'the request' })
  const closed = http.close()
  await idle.closed
  t.match(requestsInFlight(http), [/^GET \/slow /])
  slow[0]?.()
  await active.closed
  t.match(active.received(), /^HTTP\/1.1 200 .*connection: close.*"ok":true/is)
  await closed
  t.same(requestsInFlight(http), [])
})

t.test('a client that keeps sending requests does not delay close', async (t) => {
  const { http, slow, client } = await startServer(t)
  const [busy, late] = [await client(), await client()]
  busy.get('/slow')
  await waitFor(() => slow.length === 1, { what: 'the request' })
  const closed = http.close()
  busy.get('/quick')
  late.get('/health/ready')
  await late.closed
  t.match(late.received(), /^HTTP\/1.1 503 .*connection: close.*"status":"stopping"/is, 'readiness reports the stop')
  slow[0]?.()
  await busy.closed
  t.equal(busy.received().match(/HTTP\/1.1 200/g)?.length, 1, 'no response after one with Connection: close')
  await closed
})

t.test('close rejects incomplete requests with 408 after two seconds', async (t) => {
  const { http, client } = await startServer(t)
  const [silent, halfHead, halfBody] = [await client(), await client(), await client()]
  halfHead.write('GET /quick HTTP/1.1\r\nHos')
  halfBody.write('POST /body HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{')
  const before = performance.now()
  await http.close()
  t.ok(performance.now() - before < soonMs)
  await Promise.all([silent.closed, halfHead.closed, halfBody.closed])
  t.equal(silent.received(), '')
  for (const { received } of [halfHead, halfBody]) t.match(received(), /^HTTP\/1.1 408 .*"code":"invalid_request"/s)
})

t.test('close waits for the handler of a disconnected client', async (t) => {
  const { http, slow, client } = await startServer(t)
  const disconnecting = await client()
  disconnecting.get('/slow')
  await waitFor(() => slow.length === 1, { what: 'the request' })
  disconnecting.destroy()
  await disconnecting.closed
  let isClosed = false
  const closed = http.close().then(() => {
    isClosed = true
  })
  await waitFor(() => !http.server.listening, { what: 'the server to stop listening' })
  // Long enough for a close that does not wait.
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve))
  t.notOk(isClosed)
  t.match(requestsInFlight(http), [/^GET \/slow /])
  slow[0]?.()
  await closed
})
