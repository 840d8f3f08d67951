import { randomUUID } from 'node:crypto'
import { erasureFold } from '@paylog/domain/erasures'
import { guestTokenFold } from '@paylog/domain/guestToken'
import { createEventStore } from '@paylog/event-store/eventStore'
import { erasureStream, guestTokenStream } from '@paylog/event-store/streamName'
import { loadConfig } from '@paylog/runtime/config/environment'
import { createLog } from '@paylog/runtime/telemetry/log'
import { testMasterKey } from '@paylog/testing/dataKeys'
import { startEventStore } from '@paylog/testing/eventStore'
import { testPool } from '@paylog/testing/testPool'
import { waitFor } from '@paylog/testing/waitFor'
import t, { type Test } from 'tap'
import { Type } from 'typebox'
import { destroyKeys, presentKeys } from './destroyKeys.ts'
import { grantKeyAccess } from './keysRole.ts'
import { masterKeyVariables } from './masterKeys.ts'
import { replayErasures } from './replayErasures.ts'
import { startDataKeys } from './startDataKeys.ts'
import { testLifecycle } from './testing/keysHarness.ts'

const log = createLog({ app: 'test', level: 'silent' })
const metadata = { correlationId: 'c', causationId: 'c', actor: 'operator' }
const guest_email = 'ada@example.com'

async function erasureHarness(t: Test) {
  const eventStore = await startEventStore(t)
  const { connectionString, databaseUrl, keys } = eventStore
  const store = createEventStore({ connectionString, keys })
  const pool = testPool(t, databaseUrl)
  t.teardown(() => store.close())
  const occurred_at = new Date().toISOString()
  const stream = guestTokenStream('0'.repeat(64))
  await store.handle({
    ...{ stream, fold: guestTokenFold, metadata },
    decide: () => [{ type: 'GuestTokenSeen', data: { guest_email, occurred_at } }],
  })
  const { PII_MASTER_KEY } = loadConfig(Type.Object(masterKeyVariables), { PII_MASTER_KEY: testMasterKey })
  return {
    ...{ eventStore, store, pool, stream },
    keyIds: await keys.find({ email: guest_email }),
    async recordErasure(key_ids: readonly string[]) {
      const erasure_id = randomUUID()
      await store.handle({
        ...{ stream: erasureStream(erasure_id), fold: erasureFold, metadata },
        decide: () => [{ type: 'SubjectErased', data: { erasure_id, occurred_at, key_ids: [...key_ids] } }],
      })
    },
    /** As `pg_dump --schema privacy`, and the restore of what it wrote. */
    async dump() {
      const tables = ['keys', 'emails', 'progress']
      for (const table of tables) await pool.query(`create table saved_${table} as select * from privacy.${table}`)
      return async () => {
        await pool.query('truncate privacy.emails, privacy.keys, privacy.progress')
        for (const table of tables) await pool.query(`insert into privacy.${table} select * from saved_${table}`)
      }
    },
    /** The e-mail of the guest as a process reads it that starts now. */
    async startProcess() {
      const config = { DATABASE_URL: databaseUrl, EVENTSTORE_URL: connectionString, PII_MASTER_KEY }
      const started = await startDataKeys(config, { log, lifecycle: testLifecycle(t) })
      const reading = createEventStore({ connectionString, keys: started })
      t.teardown(() => reading.close())
      const email = async () => (await reading.load(stream, guestTokenFold)).state?.guest_email
      return { keys: started, email }
    },
  }
}

t.test(
  'keys that a restore of an older backup brings back are destroyed before a process reads with them',
  async (t) => {
    const { pool, keyIds, recordErasure, dump, startProcess } = await erasureHarness(t)
    t.equal(await (await startProcess()).email(), guest_email)
    const restore = await dump()
    await recordErasure(keyIds)
    await destroyKeys(pool, keyIds)
    await replayed(pool)
    t.equal(await (await startProcess()).email(), null)
    await restore()
    t.same(await presentKeys(pool, keyIds), keyIds, 'the key is back')
    t.equal(await (await startProcess()).email(), null)
    t.same(await presentKeys(pool, keyIds), [])

    async function replayed(db: typeof pool) {
      await waitFor(async () => (await db.query('select from privacy.progress')).rowCount === 1, { what: 'progress' })
    }
  },
)

t.test('an erasure that was interrupted after it was recorded is completed at the next start', async (t) => {
  const { pool, keyIds, recordErasure, startProcess } = await erasureHarness(t)
  await recordErasure(keyIds)
  t.same(await presentKeys(pool, keyIds), keyIds)
  t.equal(await (await startProcess()).email(), null)
})

t.test('erasures are read once, and from the start again when the log is another one', async (t) => {
  const { eventStore, pool, store, keyIds, recordErasure, dump } = await erasureHarness(t)
  const restore = await dump()
  await recordErasure(keyIds)
  t.same(await replayErasures(pool, store), keyIds)
  const after = (await pool.query('select * from privacy.progress')).rows
  await restore()
  await pool.query('insert into privacy.progress (commit_position, prepare_position, event_id) values ($1, $2, $3)', [
    after[0].commit_position,
    after[0].prepare_position,
    after[0].event_id,
  ])
  t.same(await replayErasures(pool, store), [], 'nothing is after the remembered position')
  await eventStore.empty()
  await recordErasure(keyIds)
  t.same(await replayErasures(pool, store), keyIds)
})

t.test(
  'a login that may not destroy keys waits for one that may, and runs no statement that Postgres forbids',
  async (t) => {
    const { eventStore, pool, store, keyIds, recordErasure } = await erasureHarness(t)
    const url = new URL(eventStore.databaseUrl)
    url.username = `keys_${randomUUID().slice(0, 8)}`
    await pool.query(`create role ${url.username} login password 'example'`)
    url.password = 'example'
    await grantKeyAccess(pool, url.username)
    t.teardown(async () => {
      await pool.query(`drop owned by ${url.username}`)
      await pool.query(`drop role ${url.username}`)
    })
    const reading = testPool(t, url.href, 1)
    await recordErasure(keyIds)
    await t.rejects(replayErasures(reading, store), { name: 'KeysPresentError' })
    t.same(await replayErasures(pool, store), keyIds)
    await recordErasure(keyIds)
    const statements = t.capture(reading, 'query', reading.query)
    t.same(await replayErasures(reading, store), [])
    const failed = await Promise.allSettled(statements().map((each) => 'returned' in each && each.returned))
    t.same(
      failed.filter(({ status }) => status === 'rejected'),
      [],
    )
  },
)

t.test('while the log cannot be read, a starting process opens nothing and is not ready', async (t) => {
  const { eventStore, keyIds, startProcess, pool, recordErasure } = await erasureHarness(t)
  await recordErasure(keyIds)
  await eventStore.kill()
  const { keys, email } = await startProcess()
  await t.rejects(keys.check(), { code: 'service_unavailable', message: /erasures in the log have not been read/ })
  await t.rejects(keys.load(keyIds), { code: 'service_unavailable' })
  await t.rejects(keys.named(['user:a']), { code: 'service_unavailable' })
  t.same(await presentKeys(pool, keyIds), keyIds)
  await eventStore.start()
  await waitFor(
    () =>
      keys.check().then(
        () => true,
        () => false,
      ),
    { what: 'the replay', timeoutMs: 20_000 },
  )
  t.equal(await email(), null)
})
