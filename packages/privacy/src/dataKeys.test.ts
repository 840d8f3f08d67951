import { createSecretKey } from 'node:crypto'
import { createLog } from '@paylog/runtime/telemetry/log'
import { testMasterKey } from '@paylog/testing/dataKeys'
import { startEventStore } from '@paylog/testing/eventStore'
import { startTcpProxy } from '@paylog/testing/tcpProxy'
import { waitFor } from '@paylog/testing/waitFor'
import t from 'tap'
import { expiredBuckets } from './buckets.ts'
import type { PersonalDataKeys } from './dataKeys.ts'
import { destroyKeys, presentKeys } from './destroyKeys.ts'
import { startDataKeys } from './startDataKeys.ts'
import { keysHarness, testLifecycle } from './testing/keysHarness.ts'

const idsOf = async (keys: PersonalDataKeys, ...names: string[]) => (await keys.named(names)).map(({ id }) => id)

t.test('the keys of names are the same in all processes, and in the order of the names', async (t) => {
  const { start, pool } = await keysHarness(t)
  const [one, other] = [await start(), await start()]
  const names = ['user:a', 'guest:b@example.com', 'payment:c', 'user:a']
  const made = await one.named(names)
  t.same(made[0], made[3])
  t.equal(new Set(made.map(({ id }) => id)).size, 3)
  t.same(await other.named(names), made)
  t.same(await one.named(names), made, 'from memory')
  const { rows } = await pool.query<{ text: string }>('select keys::text as text from privacy.keys as keys')
  t.equal(rows.length, 3)
  for (const { text } of rows) for (const { key } of made) t.notMatch(text, key.export().toString('hex'))
})

t.test('concurrent processes make one key for each name', async (t) => {
  const { start, pool } = await keysHarness(t)
  const processes = [await start(), await start(), await start()]
  const names = Array.from({ length: 40 }, (_, index) => `user:${index}`)
  const results = await Promise.all(
    processes.flatMap((keys, index) => [keys.named(index === 1 ? names.toReversed() : names), keys.named(['user:0'])]),
  )
  const bytesOf = (result: (typeof results)[number] | undefined) =>
    (result ?? []).map(({ key }) => key.export().toString('hex'))
  t.same(bytesOf(results[4]), bytesOf(results[0]))
  t.same(bytesOf(results[2]), bytesOf(results[0]).toReversed())
  t.same(bytesOf(results[3]), bytesOf(results[0]).slice(0, 1))
  t.same((await pool.query('select count(*)::int from privacy.keys')).rows, [{ count: 40 }])
})

t.test('a key is known by its id after it was loaded, and null when there is none', async (t) => {
  const { start } = await keysHarness(t)
  const [key] = await (await start()).named(['user:a'])
  const keys = await start()
  const absent = '00000000-0000-4000-8000-000000000000'
  const id = key?.id ?? ''
  t.equal(keys.known(id), undefined)
  await keys.load([id, absent, 'not an id'])
  t.ok(key?.key.equals(keys.known(id) ?? createSecretKey(Buffer.alloc(32))))
  t.same([keys.known(absent), keys.known('not an id')], [null, null])
})

t.test('a destroyed key is null in other processes at once, and its returning owner gets another one', async (t) => {
  const { start, pool } = await keysHarness(t)
  const [one, other] = [await start(), await start()]
  const [id = '', kept = ''] = await idsOf(one, 'user:a', 'user:b')
  await other.load([id, kept])
  await listeners(pool)
  t.same(await destroyKeys(pool, [id]), [id])
  await waitFor(() => one.known(id) === null && other.known(id) === null, { what: 'both to notice' })
  t.ok(other.known(kept), 'the other key stays')
  const [returned] = await idsOf(one, 'user:a')
  t.not(returned, id)
  t.same(await idsOf(other, 'user:a'), [returned])
  t.same(await destroyKeys(pool, [id]), [], 'repeated')
  t.same(await presentKeys(pool, [id, kept]), [kept])
  const fresh = await start()
  await fresh.load([id])
  t.equal(fresh.known(id), null)
  const { rows } = await pool.query('select name_hash, wrapped, master from privacy.keys where id = $1', [id])
  t.same(rows, [{ name_hash: null, wrapped: null, master: null }])
})

t.test('a destruction without a notification is noticed by the next sweep', async (t) => {
  const { start, pool } = await keysHarness(t)
  const swept = await start({ timing: { sweepMs: 50, maxAgeMs: 60_000 } })
  const aged = await start({ timing: { sweepMs: 60_000, maxAgeMs: 0 } })
  const [id = ''] = await idsOf(swept, 'user:a')
  t.same(await idsOf(aged, 'user:a'), [id])
  await pool.query(
    `update privacy.keys set name_hash = null, wrapped = null, master = null, destroyed_at = now() where id = $1`,
    [id],
  )
  await waitFor(() => swept.known(id) === null, { what: 'the sweep' })
  t.not((await idsOf(aged, 'user:a'))[0], id, 'nothing is sealed with keys that were not compared for too long')
})

t.test(
  'a person is found by user, by payment and by every e-mail that was seen, until the key is destroyed',
  async (t) => {
    const { start, pool } = await keysHarness(t)
    const keys = await start()
    await keys.seen('user:a', 'Ada@Example.com')
    await keys.seen('user:a', 'ada@work.example')
    await keys.seen('user:a', 'ada@example.com')
    const [user = '', guest = '', payment = ''] = await idsOf(keys, 'user:a', 'guest:ada@example.com', 'payment:p')
    t.same(await keys.find({ user: 'a' }), [user])
    t.same(await keys.find({ payment: 'p' }), [payment])
    t.same(await keys.find({ email: 'ADA@example.com' }), [user, guest].sort())
    t.same(await keys.find({ email: 'ada@work.example' }), [user])
    t.same(await keys.find({ email: 'ada@elsewhere.example' }), [])
    const { rows } = await pool.query<{ text: string }>('select emails::text as text from privacy.emails as emails')
    t.equal(rows.length, 2)
    t.notMatch(JSON.stringify(rows), /ada@|@example|work/i)
    await listeners(pool)
    await destroyKeys(pool, [user])
    t.same((await pool.query('select from privacy.emails')).rowCount, 0)
    t.same(await keys.find({ email: 'ada@example.com' }), [guest])
    await waitFor(() => keys.known(user) === null, { what: 'the destruction' })
    await keys.seen('user:a', 'ada@example.com')
    t.same(await keys.find({ email: 'ada@example.com' }), [guest, ...(await idsOf(keys, 'user:a'))].sort())
  },
)

t.test('an e-mail is not recorded for a key that is destroyed meanwhile', async (t) => {
  const { start, pool } = await keysHarness(t)
  const keys = await start()
  const [id = ''] = await idsOf(keys, 'user:a')
  const client = await pool.connect()
  await client.query('begin')
  await client.query('select from privacy.keys where id = $1 for update', [id])
  const seen = keys.seen('user:a', 'ada@example.com')
  await waitFor(
    async () =>
      (await pool.query("select from pg_stat_activity where wait_event_type = 'Lock' and query ~ 'added as'"))
        .rowCount === 1,
    { what: 'the insert to wait' },
  )
  await client.query(
    'update privacy.keys set name_hash = null, wrapped = null, master = null, destroyed_at = now() where id = $1',
    [id],
  )
  await client.query('commit')
  client.release()
  await seen
  const { rows } = await pool.query('select id from privacy.keys join privacy.emails using (name_hash)')
  t.equal(rows.length, 1)
  t.not(rows[0]?.id, id, 'the e-mail belongs to the next key')
})

t.test('the keys of expired buckets are found by their day', async (t) => {
  const { start, pool } = await keysHarness(t)
  const keys = await start()
  const [oldest, older] = await idsOf(
    keys,
    'body:2026-11-01',
    'body:2026-11-02',
    'body:2026-11-03',
    'secret:2026-11-01',
  )
  t.same(await expiredBuckets(pool, 'body', '2026-11-03'), [
    { id: oldest, day: '2026-11-01' },
    { id: older, day: '2026-11-02' },
  ])
  await destroyKeys(pool, [oldest ?? ''])
  t.same(await expiredBuckets(pool, 'body', '2026-11-03'), [{ id: older, day: '2026-11-02' }])
})

t.test('without Postgres keys in memory work, others are service_unavailable, until Postgres is back', async (t) => {
  const { start, databaseUrl } = await keysHarness(t)
  const target = new URL(databaseUrl)
  const proxy = await startTcpProxy(t, Number(target.port))
  target.port = String(proxy.port)
  const keys = await start({ databaseUrl: target.href })
  const made = await keys.named(['user:a'])
  const unavailable = { name: 'DomainError', code: 'service_unavailable', cause: Error }
  proxy.freezeConnections()
  const startedAt = performance.now()
  await t.rejects(keys.named(['user:b']), unavailable)
  t.ok(performance.now() - startedAt < 6_500, 'after a bounded wait')
  await proxy.refuse()
  await t.rejects(keys.named(['user:c']), unavailable)
  await t.rejects(keys.load(['00000000-0000-4000-8000-000000000000']), unavailable)
  t.same(await keys.named(['user:a']), made)
  await proxy.accept()
  t.equal((await keys.named(['user:b', 'user:c'])).length, 2)
})

t.test('an app starts without Postgres, and checks the master key before its first key', async (t) => {
  const { databaseUrl, connectionString: EVENTSTORE_URL, keys } = await startEventStore(t)
  await keys.named(['user:a'])
  const target = new URL(databaseUrl)
  const proxy = await startTcpProxy(t, Number(target.port))
  target.port = String(proxy.port)
  await proxy.refuse()
  const app = async (masterKey: string) => {
    const config = { DATABASE_URL: target.href, EVENTSTORE_URL, PII_MASTER_KEY: [masterKey] }
    const log = createLog({ app: 'test', level: 'silent' })
    return await startDataKeys(config, { log, lifecycle: testLifecycle(t) })
  }
  const [right, wrong] = [await app(testMasterKey), await app(Buffer.alloc(32, 'other').toString('base64'))]
  await t.rejects(right.named(['user:a']), { code: 'service_unavailable' })
  t.throws(() => right.hash('a'), { code: 'service_unavailable' })
  await t.rejects(right.check(), { code: 'service_unavailable' })
  await proxy.accept()
  t.equal((await right.named(['user:a'])).length, 1)
  await right.check()
  const unavailable = { code: 'service_unavailable', cause: { name: 'MasterKeyError' } }
  await t.rejects(wrong.named(['user:b']), unavailable)
  await t.rejects(wrong.check(), { name: 'MasterKeyError' })
})

/** All keys of this process share a session, which is probed after it listens. */
async function listeners(pool: { query(sql: string): Promise<{ rowCount: number | null }> }): Promise<void> {
  const listening = `select from pg_stat_activity where datname = current_database() and state = 'idle'
    and application_name = 'locks and channels' and query in ('listen "destroyed_keys"', 'select 1')`
  await waitFor(async () => (await pool.query(listening)).rowCount === 1, { what: 'the listeners' })
}
