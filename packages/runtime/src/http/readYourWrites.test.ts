import { startRedisServer, withRedis } from '@paylog/testing/redisServer'
import { waitFor } from '@paylog/testing/waitFor'
import { Redis } from 'ioredis'
import t, { type Test } from 'tap'
import { createLog } from '../telemetry/log.ts'
import { createHttp } from './http.ts'
import { readYourWrites } from './readYourWrites.ts'
import { connectRedis } from './sharedRedis.ts'

const silent = createLog({ app: 'test', level: 'silent' })

type Credential = { readonly headers?: Record<string, string>; readonly query?: string }

/** An API whose writes have the given position, and whose reads respond with the position that they wait for. */
async function startApi(t: Test, redisUrl?: string, log = silent) {
  const { useRedis, disconnect } = await connectRedis(redisUrl, log)
  const http = createHttp({ log })
  readYourWrites(http, useRedis)
  http.post<{ Body: { at: string } }>('/write', async ({ body }, reply) =>
    reply.header('x-event-position', body.at).send({}),
  )
  http.get('/read', async ({ headers }) => ({ after: headers['x-read-after'] ?? null }))
  t.teardown(async () => {
    await http.close()
    disconnect()
  })
  return {
    write: ({ headers = {}, query = '' }: Credential, at: bigint | number) =>
      http.inject({ method: 'POST', url: `/write${query}`, headers, payload: { at: String(at) } }),
    async readAfter({ headers = {}, query = '' }: Credential): Promise<string | null> {
      return (await http.inject({ method: 'GET', url: `/read${query}`, headers })).json().after
    },
  }
}

const ada = { headers: { 'x-session-id': 'ada-secret' } }

t.test('reads wait for the writes of the same credential, in any header or parameter [10.1-own-writes]', async (t) => {
  const { write, readAfter } = await startApi(t)
  await write(ada, 10)
  t.equal(await readAfter(ada), '10')
  t.equal(await readAfter({ headers: { authorization: 'Bearer ada-secret' } }), '10')
  t.equal(await readAfter({ query: '?session_id=ada-secret' }), '10')
  await write({ query: '?token=guest' }, 11)
  t.equal(await readAfter({ headers: { authorization: 'Token guest' } }), '11')
})

t.test('reads do not wait for writes of other credentials or of anonymous callers', async (t) => {
  const { write, readAfter } = await startApi(t)
  await write(ada, 20)
  await write({}, 21)
  t.equal(await readAfter({ headers: { 'x-session-id': 'grace' } }), null)
  t.equal(await readAfter({}), null)
})

t.test('the position of a credential never decreases, and an X-Read-After of the client is kept', async (t) => {
  const { write, readAfter } = await startApi(t)
  await write(ada, 40)
  await write(ada, 30)
  t.equal(await readAfter(ada), '40')
  t.equal(await readAfter({ headers: { ...ada.headers, 'x-read-after': '5' } }), '5')
})

t.test(
  'through Redis a read waits for a write of another process, and what is stored expires and holds no credential',
  withRedis,
  async (t) => {
    const server = await startRedisServer(t, { isDurable: false })
    const [writer, reader] = [await startApi(t, server.url), await startApi(t, server.url)]
    t.equal(await reader.readAfter(ada), null)
    await writer.write(ada, 10)
    t.equal(await reader.readAfter(ada), '10')
    t.equal(await reader.readAfter({ headers: { 'x-session-id': 'grace' } }), null)
    const redis = new Redis(server.url)
    t.teardown(() => redis.disconnect())
    const [key = '', ...others] = await redis.keys('*')
    t.same(others, [])
    t.match(key, /^paylog-last-write:[\w-]{43}$/)
    const expiresInMs = await redis.pttl(key)
    t.ok(expiresInMs > 50_000 && expiresInMs <= 60_000, `${expiresInMs} ms`)
    await writer.write({}, 20)
    t.equal(await redis.dbsize(), 1, 'an anonymous write is not stored')
  },
)

t.test('in Redis the highest position stays, exact to 64 bits, in any order of writes', withRedis, async (t) => {
  const server = await startRedisServer(t, { isDurable: false })
  const [one, other] = [await startApi(t, server.url), await startApi(t, server.url)]
  const reader = await startApi(t, server.url)
  // Neighbours that are equal as doubles, and numbers whose order as text is another one.
  const ascending = [9n, 10n, 99n, 2n ** 53n, 2n ** 53n + 1n, 2n ** 63n - 2n, 2n ** 63n - 1n]
  for (const [index, position] of ascending.entries()) {
    await one.write(ada, position)
    await other.write(ada, ascending[index - 1] ?? 1n)
    t.equal(await reader.readAfter(ada), String(position))
  }
  const grace = { headers: { 'x-session-id': 'grace' } }
  const positions = Array.from({ length: 200 }, (_, n) => 2n ** 60n + BigInt((n * 77) % 200))
  await Promise.all(positions.map((position, n) => (n % 2 === 0 ? one : other).write(grace, position)))
  t.equal(await reader.readAfter(grace), String(2n ** 60n + 199n))
})

t.test('an emptied or broken entry in Redis makes a read return at once', withRedis, async (t) => {
  const server = await startRedisServer(t, { isDurable: false })
  const [writer, reader] = [await startApi(t, server.url), await startApi(t, server.url)]
  const redis = new Redis(server.url)
  t.teardown(() => redis.disconnect())
  await writer.write(ada, 10)
  const [key = ''] = await redis.keys('*')
  await redis.set(key, 'x')
  t.equal(await reader.readAfter(ada), null)
  await redis.flushall()
  t.equal(await reader.readAfter(ada), null)
  await writer.write(ada, 11)
  t.equal(await reader.readAfter(ada), '11')
})

/** How many milliseconds 40 writes and 40 reads took, one after another. With a wait in each, it would be 20,000. */
async function timeOf({ write, readAfter }: Awaited<ReturnType<typeof startApi>>): Promise<number> {
  const begin = performance.now()
  for (let n = 0; n < 40; n++) {
    const { statusCode } = await write(ada, 1_000 + n)
    if (statusCode !== 200) throw new Error(`The write failed: ${statusCode}`)
    await readAfter(ada)
  }
  return performance.now() - begin
}

t.test('while Redis hangs, only the first request waits, and a process keeps its own writes', withRedis, async (t) => {
  const server = await startRedisServer(t, { isDurable: false })
  const [writer, reader] = [await startApi(t, server.url), await startApi(t, server.url)]
  await writer.write(ada, 10)
  server.pause()
  t.teardown(() => server.resume())
  const tookMs = await timeOf(writer)
  t.ok(tookMs >= 240 && tookMs < 5_000, `took ${tookMs.toFixed()} ms`)
  t.equal(await writer.readAfter(ada), '1039')
  t.equal(await reader.readAfter(ada), null, 'another process serves the read at once')
  server.resume()
  await waitFor(async () => (await writer.write(ada, 2_000)) && (await reader.readAfter(ada)) === '2000', {
    what: 'writes to be shared again',
  })
})

t.test('while Redis is down, no request waits, and a restarted Redis is used again', withRedis, async (t) => {
  const server = await startRedisServer(t, { isDurable: false })
  const [writer, reader] = [await startApi(t, server.url), await startApi(t, server.url)]
  await server.kill()
  const tookMs = await timeOf(writer)
  t.ok(tookMs < 5_000, `took ${tookMs.toFixed()} ms`)
  t.equal(await reader.readAfter(ada), null)
  await server.restartEmpty()
  await waitFor(async () => (await writer.write(ada, 2_000)) && (await reader.readAfter(ada)) === '2000', {
    what: 'writes to be shared again',
  })
})

t.test('a login that Redis refuses is one line that names its variable, without its value', withRedis, async (t) => {
  const { port } = await startRedisServer(t, { isDurable: false })
  const lines: string[] = []
  const log = createLog({ app: 'test', level: 'warn' }, { write: (line) => void lines.push(line) })
  const api = await startApi(t, `redis://nobody:wrong@127.0.0.1:${port}`, log)
  await waitFor(() => lines.length > 0, { what: 'the line, before any request' })
  await api.write(ada, 1_000)
  t.equal(await api.readAfter(ada), '1000', 'the process has its own')
  t.match(lines, [/"reason":"WRONGPASS [^:]*","msg":"Redis refuses the login in REDIS_URL: /])
  t.equal(lines.length, 1)
})
