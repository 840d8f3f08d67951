import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { waitFor } from '@paylog/testing/waitFor'
import t, { type Test } from 'tap'
import { createHealth } from '../process/health.ts'
import { createLog } from '../telemetry/log.ts'
import { requestsInFlight } from './draining.ts'
import { createHttp } from './http.ts'

/** Longer than a request is waited for that does not come. */
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
  const { port } = new URL(await http.listen({ host: '127.0.0.1', port: 0 }))
  t.teardown(() => http.close())
  return { http, slow, client: () => connectTo(t, Number(port)) }
}

async function connectTo(t: Test, port: number) {
  const socket: Socket = connect(port, '127.0.0.1')
  let heard = ''
  socket.setEncoding('utf8').on('data', (text: string) => {
    heard += text
  })
  socket.on('error', () => undefined)
  const closed = once(socket, 'close')
  await once(socket, 'connect')
  t.teardown(() => socket.destroy())
  return {
    closed,
    heard: () => heard,
    write: (text: string) => void socket.write(text),
    get: (path: string) => void socket.write(`GET ${path} HTTP/1.1\r\nHost: example.com\r\n\r\n`),
    leave: () => socket.destroy(),
  }
}

t.test('what is under way is answered, on connections that are closed then', async (t) => {
  const { http, slow, client } = await startServer(t)
  const [asking, idle] = [await client(), await client()]
  idle.get('/quick')
  await waitFor(() => idle.heard().includes('ok'), { what: 'the first answer' })
  t.match(idle.heard(), /connection: keep-alive/i)
  asking.get('/slow')
  await waitFor(() => slow.length === 1, { what: 'the request' })
  const closed = http.close()
  await idle.closed
  t.match(requestsInFlight(http), [/^GET \/slow /])
  slow[0]?.()
  await asking.closed
  t.match(asking.heard(), /^HTTP\/1.1 200 .*connection: close.*"ok":true/is)
  await closed
  t.same(requestsInFlight(http), [])
})

t.test('a client that goes on sending is served once more, and does not keep the server', async (t) => {
  const { http, slow, client } = await startServer(t)
  const [busy, late] = [await client(), await client()]
  busy.get('/slow')
  await waitFor(() => slow.length === 1, { what: 'the request' })
  const closed = http.close()
  busy.get('/quick')
  late.get('/health/ready')
  await late.closed
  t.match(late.heard(), /^HTTP\/1.1 503 .*connection: close.*"status":"stopping"/is, 'who balances the load is told')
  slow[0]?.()
  await busy.closed
  t.equal(busy.heard().match(/HTTP\/1.1 200/g)?.length, 1, 'after an answer that closes there is none')
  await closed
})

t.test('who has not sent a whole request is not waited for', async (t) => {
  const { http, client } = await startServer(t)
  const [silent, halfHead, halfBody] = [await client(), await client(), await client()]
  halfHead.write('GET /quick HTTP/1.1\r\nHos')
  halfBody.write('POST /body HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{')
  const before = performance.now()
  await http.close()
  t.ok(performance.now() - before < soonMs)
  await Promise.all([silent.closed, halfHead.closed, halfBody.closed])
  t.equal(silent.heard(), '')
  for (const { heard } of [halfHead, halfBody]) t.match(heard(), /^HTTP\/1.1 408 .*"code":"invalid_request"/s)
})

t.test('what a client has left behind is finished, too', async (t) => {
  const { http, slow, client } = await startServer(t)
  const leaving = await client()
  leaving.get('/slow')
  await waitFor(() => slow.length === 1, { what: 'the request' })
  leaving.leave()
  await leaving.closed
  let isClosed = false
  const closed = http.close().then(() => {
    isClosed = true
  })
  await waitFor(() => !http.server.listening, { what: 'the server to take nobody any more' })
  // Long enough for the end of a close that waits for nobody.
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve))
  t.notOk(isClosed)
  t.match(requestsInFlight(http), [/^GET \/slow /])
  slow[0]?.()
  await closed
})
