import { once } from 'node:events'
import { request as open } from 'node:http'
import { connect } from 'node:net'
import { json } from 'node:stream/consumers'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { waitFor } from '@paylog/testing/waitFor'
import t, { type Test } from 'tap'
import { apiHarness } from '../testing/apiHarness.ts'
import { rawBody } from './body.ts'

setFlagsFromString('--expose-gc')
const collectGarbage: () => void = runInNewContext('gc')

function usedBytes(): number {
  collectGarbage()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

const mib = 1024 * 1024
const trusted = { TRUST_PROXY: '127.0.0.1' }

/** An API behind a proxy; `/raw` responds after `release` with the number of bytes. */
async function bodyHarness(t: Test) {
  const gate = Promise.withResolvers<void>()
  let arrived = 0
  const { url } = await apiHarness(t, trusted, async (http) => {
    http.post('/json', async ({ body }) => ({ body }))
    await http.register(async (scope) => {
      rawBody(scope)
      scope.post('/raw', async ({ body }) => {
        arrived += 1
        await gate.promise
        return { bytes: Buffer.isBuffer(body) ? body.length : -1 }
      })
    })
  })
  t.teardown(() => gate.resolve())
  /** @returns a request of which only the headers are sent, and its response */
  const begin = (client: string, headers: Readonly<Record<string, string>> = {}, path = '/raw') => {
    const sending = open(`${url}${path}`, {
      method: 'POST',
      agent: false,
      headers: { 'x-forwarded-for': client, ...headers },
    })
    sending.on('error', () => undefined).flushHeaders()
    t.teardown(() => sending.destroy())
    const response = once(sending, 'response').then(async ([message]) => ({
      status: message.statusCode,
      retryAfter: message.headers['retry-after'],
      body: await json(message),
    }))
    response.catch(() => undefined)
    return { sending, response }
  }
  const send = (client: string, bytes: number) => {
    const started = begin(client)
    started.sending.end(Buffer.alloc(bytes))
    return started
  }
  return { url, begin, send, arrived: () => arrived, release: () => gate.resolve() }
}

const overloaded = { status: 503, retryAfter: '5', body: { success: false, error: { code: 'service_unavailable' } } }

t.test('bodies beyond 8 MiB per address get 503 until earlier requests are complete', async (t) => {
  const { send, arrived, release } = await bodyHarness(t)
  const first = Array.from({ length: 8 }, () => send('192.0.2.1', mib))
  await waitFor(() => arrived() === 8, { what: 'the bodies to arrive' })
  t.match(await send('192.0.2.1', 1).response, overloaded)
  const other = send('192.0.2.2', mib)
  await waitFor(() => arrived() === 9, { what: 'the body of another address' })
  release()
  for (const { response } of [...first, other]) t.match(await response, { status: 200, body: { bytes: mib } })
  t.match(await send('192.0.2.1', mib).response, { status: 200 }, 'after the earlier responses')
})

t.test('bodies beyond 64 MiB in total get 503', { timeout: 60_000 }, async (t) => {
  const { send, arrived } = await bodyHarness(t)
  for (let client = 1; client <= 8; client++) for (let n = 0; n < 8; n++) send(`192.0.2.${client}`, mib)
  await waitFor(() => arrived() === 64, { what: 'the bodies to arrive' })
  t.match(await send('192.0.2.9', 1).response, overloaded)
})

t.test('a body counts by its received bytes, not by its Content-Length', async (t) => {
  const { begin, send, release } = await bodyHarness(t)
  release()
  for (let n = 0; n < 20; n++) {
    const { sending } = begin('192.0.2.1', { 'content-length': String(mib) })
    await new Promise((resolve) => sending.write('x', resolve))
  }
  t.match(await send('192.0.2.1', mib).response, { status: 200 })
})

t.test('more than 128 incomplete bodies of one address get 503', async (t) => {
  const { begin, send, release } = await bodyHarness(t)
  release()
  const unfinished = Array.from({ length: 128 }, () => begin('192.0.2.1', { 'content-length': '10' }))
  const status = async (client: string) => (await send(client, 10).response).status
  await waitFor(async () => (await status('192.0.2.1')) === 503, { what: 'a 503' })
  t.equal(await status('192.0.2.2'), 200, 'another address')
  for (const { sending } of unfinished) sending.destroy()
  await waitFor(async () => (await status('192.0.2.1')) === 200, { what: 'bodies to be accepted again' })
})

t.test('bodies of disconnected clients no longer count', async (t) => {
  const { begin, send, release } = await bodyHarness(t)
  release()
  for (let round = 0; round < 12; round++) {
    const { sending } = begin('192.0.2.1', { 'content-length': String(mib) })
    await new Promise((resolve) => sending.write(Buffer.alloc(mib - 1), resolve))
    sending.destroy()
  }
  await waitFor(async () => (await send('192.0.2.1', mib).response).status === 200, { what: 'a body to be accepted' })
  const all = await Promise.all(Array.from({ length: 6 }, () => send('192.0.2.1', mib).response))
  t.ok(all.every(({ status }) => status === 200))
})

t.test('a body sent byte by byte takes little more memory than its bytes', async (t) => {
  const { url, release } = await bodyHarness(t)
  release()
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  t.teardown(() => socket.destroy())
  socket.write('POST /raw HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n')
  const before = usedBytes()
  for (let sent = 0; sent < mib / 8; sent += 8192)
    await new Promise((resolve) => socket.write('1\r\nx\r\n'.repeat(8192), resolve))
  const grown = usedBytes() - before
  socket.write('0\r\n\r\n')
  const [response] = await once(socket, 'data')
  t.match(String(response), /^HTTP\/1.1 200 .*"bytes":131072/s)
  t.ok(grown < 8e6, `${grown} bytes`)
})
