import type { Server } from 'node:http'
import { waitFor } from '@paylog/testing/waitFor'
import t, { type Test } from 'tap'
import { apiHarness } from '../testing/apiHarness.ts'
import { connectRaw } from '../testing/rawClient.ts'

/** An API with `/slow`, which responds after `release`, and `/large` of 300 KB. */
async function connectionHarness(t: Test, variables: Readonly<Record<string, string>>) {
  const gate = Promise.withResolvers<void>()
  const seen = { slow: 0, large: 0 }
  const created = Promise.withResolvers<Server>()
  const { url, logged } = await apiHarness(t, variables, async (http) => {
    created.resolve(http.server)
    http.get('/quick', async () => ({ quick: true }))
    http.get('/slow', async () => {
      seen.slow += 1
      await gate.promise
      return { slow: true }
    })
    http.get('/large', async () => {
      seen.large += 1
      return { text: 'x'.repeat(300_000) }
    })
    http.post('/body', async ({ body }) => ({ body }))
  })
  const open = async (localAddress?: string) => {
    const client = await connectRaw(t, url, localAddress)
    return {
      ...client,
      async status(path: string) {
        const before = client.received().length
        let isClosed = false
        void client.closed.then(() => {
          isClosed = true
        })
        client.get(path)
        const found = () => /HTTP\/1\.1 (\d+).*\r\n\r\n./s.exec(client.received().slice(before))?.[1]
        return waitFor(() => found() ?? (isClosed && 'closed'), { what: `a response to ${path}` })
      },
    }
  }
  t.teardown(() => gate.resolve())
  const settings = await created.promise
  const connections = () => new Promise((resolve) => settings.getConnections((_error, count) => resolve(count)))
  return { url, logged, seen, open, settings, connections, release: () => gate.resolve() }
}

/** Opens `count` connections with a request in flight each. */
async function openBusyClients(api: Awaited<ReturnType<typeof connectionHarness>>, count: number, address?: string) {
  const clients = await Promise.all(Array.from({ length: count }, () => api.open(address)))
  const before = api.seen.slow
  for (const { get } of clients) get('/slow')
  await waitFor(() => api.seen.slow === before + count, { what: 'the requests to be in flight' })
  return clients
}

t.test('at MAX_CONNECTIONS, a new connection replaces the one that has been idle longest', async (t) => {
  const { open } = await connectionHarness(t, { MAX_CONNECTIONS: '3' })
  const [silent, halfSent] = [await open(), await open()]
  halfSent.write('POST /body HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{')
  const idle = await open()
  t.equal(await idle.status('/quick'), '200')
  for (const oldest of [silent, halfSent, idle]) {
    t.equal(await (await open()).status('/quick'), '200')
    await oldest.closed
  }
})

t.test('at MAX_CONNECTIONS, a new connection is closed while all others have requests in flight', async (t) => {
  const api = await connectionHarness(t, { MAX_CONNECTIONS: '2' })
  const busy = await openBusyClients(api, 2)
  for (let n = 0; n < 3; n++) t.equal(await (await api.open()).status('/quick'), 'closed')
  t.equal(api.logged.filter((line) => line.includes('connections rejected')).length, 1)
  api.release()
  await waitFor(() => busy.every(({ received }) => received().includes('slow')), {
    what: 'the responses to earlier requests',
  })
  t.equal(await (await api.open()).status('/quick'), '200')
})

t.test('at MAX_CONNECTIONS, a request whose body is complete is not interrupted', async (t) => {
  const { open } = await connectionHarness(t, { MAX_CONNECTIONS: '1' })
  const client = await open()
  client.write('POST /body HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}')
  await waitFor(() => client.received().includes('200 OK'), { what: 'the response' })
})

t.test('connections beyond MAX_CONNECTIONS_PER_ADDRESS do not affect other addresses', async (t) => {
  const api = await connectionHarness(t, { MAX_CONNECTIONS: '4', MAX_CONNECTIONS_PER_ADDRESS: '2' })
  const other = await api.open('127.0.0.3')
  t.equal(await other.status('/quick'), '200')
  const busy = await openBusyClients(api, 2, '127.0.0.2')
  for (let n = 0; n < 20; n++) t.equal(await (await api.open('127.0.0.2')).status('/quick'), 'closed')
  t.equal(await other.status('/quick'), '200', 'the connection of another address')
  t.equal(await (await api.open('127.0.0.4')).status('/quick'), '200', 'a new one')
  api.release()
  await waitFor(() => busy.every(({ received }) => received().includes('slow')), {
    what: 'the responses to earlier requests',
  })
  for (let n = 0; n < 20; n++) await api.open('127.0.0.2')
  t.equal(await other.status('/quick'), '200', 'while another address opens idle connections')
})

t.test('MAX_CONNECTIONS_PER_ADDRESS does not apply to proxies of TRUST_PROXY', async (t) => {
  const api = await connectionHarness(t, { MAX_CONNECTIONS_PER_ADDRESS: '1', TRUST_PROXY: '127.0.0.2' })
  await openBusyClients(api, 3, '127.0.0.2')
  t.equal(await (await api.open('127.0.0.2')).status('/quick'), '200')
})

t.test('64 pipelined requests are handled eight at a time, with responses in order', async (t) => {
  const api = await connectionHarness(t, {})
  const client = await api.open()
  const paths = Array.from({ length: 64 }, (_, n) => (n % 2 === 0 ? '/slow' : '/quick'))
  client.write(paths.map((path) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`).join(''))
  await waitFor(() => api.seen.slow === 4, { what: 'the first eight to be in flight' })
  t.equal(await (await api.open()).status('/quick'), '200', 'others are served meanwhile')
  t.equal(api.seen.slow, 4)
  api.release()
  const responded = () => [...client.received().matchAll(/\{"(slow|quick)":true\}/g)].map(([, name]) => `/${name}`)
  await waitFor(() => responded().length === paths.length, { what: 'all responses' })
  t.same(responded(), paths)
})

t.test('ten connections with 1,400 pipelined requests each are closed and use little memory', async (t) => {
  const { open, seen, url } = await connectionHarness(t, {})
  const clients = await Promise.all(Array.from({ length: 10 }, () => open()))
  const before = process.memoryUsage().rss
  for (const { pause, write } of clients) {
    pause()
    write('GET /large HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(1_400))
  }
  await Promise.all(clients.map(({ closed }) => closed))
  t.ok(seen.large <= 80, `${seen.large} were handled`)
  const grown = process.memoryUsage().rss - before
  t.ok(grown < 150e6, `${grown} bytes`)
  t.equal((await fetch(`${url}/quick`)).status, 200)
})

/** Timeouts that a test can wait for. Node reads them when it accepts a connection, and each second. */
function shorten(settings: Server): void {
  Object.assign(settings, { timeout: 500, headersTimeout: 500, requestTimeout: 1_000, keepAliveTimeout: 500 })
}

t.test('connections have 5 s for headers, 10 s for a request, 5 to 10 s to read and 65 s to be idle', async (t) => {
  const { settings } = await connectionHarness(t, {})
  const { timeout, headersTimeout, requestTimeout, keepAliveTimeout } = settings
  t.same([headersTimeout, requestTimeout, timeout, keepAliveTimeout], [5_000, 10_000, 5_000, 65_000])
})

t.test('a connection whose client reads no response is closed after once or twice the timeout', async (t) => {
  const { open, seen, connections, settings } = await connectionHarness(t, {})
  shorten(settings)
  const client = await open()
  client.pause()
  // One at a time, until the system's buffers are full.
  let sent = 0
  const isServed = async () => {
    client.get('/large')
    sent += 1
    return await waitFor(() => seen.large === sent, { what: 'the request to be read', timeoutMs: 200 }).catch(
      () => false,
    )
  }
  while (await isServed());
  t.equal(await connections(), 1)
  const startedAt = performance.now()
  await waitFor(async () => (await connections()) === 0, { what: 'the connection to be closed' })
  t.ok(performance.now() - startedAt < 4_000)
})

t.test('a connection that sends nothing is closed after its timeout', async (t) => {
  const { open, settings } = await connectionHarness(t, {})
  shorten(settings)
  const startedAt = performance.now()
  await (await open()).closed
  const ms = performance.now() - startedAt
  t.ok(ms > 400 && ms < 4_000, `${ms} ms`)
})

t.test('an idle connection is closed after the keep-alive timeout', async (t) => {
  const { open, settings } = await connectionHarness(t, {})
  settings.keepAliveTimeout = 500
  const client = await open()
  t.equal(await client.status('/quick'), '200')
  await client.closed
})

t.test('a connection with a slow handler is not closed by the timeouts', async (t) => {
  const api = await connectionHarness(t, {})
  shorten(api.settings)
  const [client] = await openBusyClients(api, 1)
  await new Promise((resolve) => setTimeout(resolve, 3_500))
  api.release()
  await waitFor(() => client?.received().includes('slow'), { what: 'the response' })
})
