// Read your writes with the APIs as separate processes, several of each, that share a Redis.
import { startRedisServer, withRedis } from '@paylog/testing/redisServer'
import { testCycles } from '@paylog/testing/testEnvironment'
import t, { type Test } from 'tap'
import { startEdge, withCaddy } from './testing/edge.ts'
import { startApis, startReplica, startReplicaBackends, warningsIn } from './testing/replicas.ts'

const rounds = testCycles(3)
const callers = [
  { 'x-session-id': 'demo-session' },
  { authorization: 'Bearer demo-admin-session' },
  { 'x-guest-token': 'demo-guest-token' },
]
/** Makes the server leave the header alone, so that the read does not wait. */
const withoutWaiting = { 'x-read-after': '0' }

type Urls = () => { readonly write: string; readonly read: string }

/** A client with one credential; each request may go to another process. */
function client(urlsOf: Urls, credential: Readonly<Record<string, string>>) {
  const json = async (response: Response) => {
    const text = await response.text()
    return { status: response.status, etag: response.headers.get('etag'), headers: response.headers, text }
  }
  return {
    async write(method: string, path: string, body?: object) {
      const headers = { ...credential, ...(body && { 'content-type': 'application/json' }) }
      const init = { method, headers, ...(body && { body: JSON.stringify(body) }) }
      const written = await json(await fetch(`${urlsOf().write}${path}`, init))
      if (written.status !== 200 && written.status !== 201)
        throw new Error(`${method} ${path}: ${written.status} ${written.text}`)
      return written
    },
    async read(path: string, headers: Readonly<Record<string, string>> = {}) {
      return await json(await fetch(`${urlsOf().read}${path}`, { headers: { ...credential, ...headers } }))
    },
  }
}

/**
 * Each caller creates, changes and deletes addresses and creates payments, three times at once, and reads after each write.
 * @param headers of the reads
 * @returns how many reads there were, those that did not show the write, and how many say that themselves
 */
async function writeAndRead(urlsOf: Urls, headers: Readonly<Record<string, string>> = {}, times = rounds) {
  let reads = 0
  const stale: string[] = []
  let marked = 0
  const expect = (shows: boolean, what: string, { headers }: { readonly headers: Headers }) => {
    reads += 1
    if (shows) return
    // The projector took more than two seconds.
    if (headers.has('x-read-stale')) marked += 1
    else stale.push(what)
  }
  const work = async (credential: Readonly<Record<string, string>>) => {
    const { write, read } = client(urlsOf, credential)
    const idIn = (text: string): string => JSON.parse(text).data.id
    for (let n = 0; n < times; n++) {
      const added = await write('POST', '/addresses', { address_type: 'shipping', is_partial: true, country: 'FR' })
      const address = `/addresses/${idIn(added.text)}`
      const first = await read(address, headers)
      expect(first.etag === added.etag, `POST ${address}`, first)
      const changed = await write('PUT', address, { alias: `number ${n}` })
      const second = await read(address, headers)
      expect(second.etag === changed.etag, `PUT ${address}`, second)
      await write('DELETE', address)
      const third = await read(address, headers)
      expect(third.status === 404, `DELETE ${address}`, third)
      // A guest token cannot create a payment.
      if ('x-guest-token' in credential) continue
      const paid = await write('POST', '/payments/intents', {
        total_cents: 1200,
        currency: 'EUR',
        provider_id: 'sandbox',
      })
      const list = await read('/payments?limit=50', headers)
      expect(list.text.includes(idIn(paid.text)), `POST /payments/intents ${idIn(paid.text)}`, list)
    }
  }
  await Promise.all([...callers, ...callers, ...callers].map(work))
  return { reads, stale, marked }
}

function assertFresh(t: Test, { reads, stale, marked }: Awaited<ReturnType<typeof writeAndRead>>): void {
  t.same(stale, [], `of ${reads} reads`)
  t.ok(marked < reads / 20, `${marked} of ${reads} reads waited for more than two seconds`)
}

t.test('two command-apis and two query-apis with a Redis', withRedis, async (t) => {
  const { url: REDIS_URL } = await startRedisServer(t)
  const sandbox = { SANDBOX_PROVIDER: 'true', SANDBOX_WEBHOOK_SECRET: 'made-up' }
  const backends = await startReplicaBackends(t, { ...sandbox, REDIS_URL })
  const [{ commands, queries, ports }, projector] = await Promise.all([
    startApis(t, backends),
    startReplica(t, backends, 'projector'),
  ])
  let turn = 0
  const urls: Urls = () => ({
    write: commands[turn++ % 2]?.baseUrl ?? '',
    read: queries[Math.floor(turn++ / 2) % 2]?.baseUrl ?? '',
  })

  t.test('every caller reads every own write at once from any process [10.1-own-writes]', async (t) => {
    // Every read model has a position before its projector stands still.
    await writeAndRead(urls, {}, 1)
    process.kill(projector.process().pid, 'SIGSTOP')
    const without = await writeAndRead(urls, withoutWaiting, 1)
    process.kill(projector.process().pid, 'SIGCONT')
    t.ok(without.stale.length > 0, 'reads that do not wait miss writes')
    assertFresh(t, await writeAndRead(urls))
  })

  t.test('every caller reads every own write at once through the edge', withCaddy, async (t) => {
    const edge = await startEdge(t, ports)
    assertFresh(t, await writeAndRead(() => ({ write: edge.url, read: edge.url })))
  })
})

t.test('apis that are apart and have no Redis warn once at the start', async (t) => {
  const backends = await startReplicaBackends(t)
  const [commands, queries] = await Promise.all([
    startReplica(t, backends, 'command-api'),
    startReplica(t, backends, 'query-api'),
    startReplica(t, backends, 'projector'),
  ])
  for (const { app, process } of [commands, queries]) {
    const warnings = warningsIn(process().output())
    t.equal(warnings.length, 1, app)
    t.match(warnings[0], /Without REDIS_URL, reads wait for writes only if the client sends X-Read-After/, app)
  }
  const urls = { write: commands.baseUrl, read: queries.baseUrl }
  const { write, read } = client(() => urls, { 'x-session-id': 'demo-session' })
  for (let n = 0; n < 20; n++) {
    const added = await write('POST', '/addresses', { address_type: 'shipping', is_partial: true, country: 'FR' })
    const after = { 'x-read-after': added.headers.get('x-event-position') ?? '' }
    t.equal((await read(`/addresses/${JSON.parse(added.text).data.id}`, after)).etag, added.etag, 'X-Read-After works')
  }
})
