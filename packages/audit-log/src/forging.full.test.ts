// Who holds Postgres, the embedded log included, cannot have another history signed; a new key is introduced by the former one.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { append } from '@paylog/event-store/testing/eventStoreHarness'
import { waitFor } from '@paylog/testing/waitFor'
import t, { type Test } from 'tap'
import { openCheckpoint } from './checkpoint.ts'
import { newSigningKey, parseSigningKey, parseVerifierKey, signNote } from './note.ts'
import { readStateFile, writeStateFile } from './stateFile.ts'
import { recorderHarness } from './testing/recorderHarness.ts'
import { auditFigures, newestCheckpoint, readCheckpoints, readTree } from './treeStore.ts'

const harness = await recorderHarness(t)
const { store, pool, signing, eventStore, signingKey, verifier } = harness
const directory = t.testdir({})
const stateFile = join(directory, 'state', 'audit.json')
const published = join(directory, 'checkpoints')
const withState = { AUDIT_STATE_FILE: stateFile }
const target = String(pathToFileURL(published))
const tables = ['event_store.events', 'audit.tiles', 'audit.tree', 'audit.checkpoints']

const notes = async () => (await Array.fromAsync(readCheckpoints(pool))).map(({ note }) => note)

/** Records events, and waits for the checkpoint that covers them and for its event. */
async function recordAndSign(recorder: { stop(): Promise<void> }, events: number) {
  const before = (await newestCheckpoint(pool))?.size ?? 0
  await append(store, 'guestToken-1', events)
  const isDone = async () => {
    const last = await newestCheckpoint(pool)
    const isNew = last !== undefined && last.size >= before + events
    return isNew && last.recorded_at !== null && (await readTree(pool)).size > last.size
  }
  await waitFor(isDone, { what: 'the checkpoint and its event' })
  await recorder.stop()
}

/** Keeps a copy of everything that is in Postgres. @returns a function that restores it, as a rollback of the database does */
async function backup(name: string): Promise<() => Promise<void>> {
  for (const table of tables) await pool.query(`create table "${name} ${table}" as table ${table}`)
  const restore = tables.map((table) => `delete from ${table}; insert into ${table} table "${name} ${table}";`)
  return async () => {
    await eventStore.kill()
    await pool.query(`begin; ${restore.join('\n')} commit`)
    await eventStore.start()
  }
}

await recordAndSign(harness.start(signing(100, target, withState)), 20)
const rollBack = await backup('older')
await recordAndSign(harness.start(signing(100, target, withState)), 20)
const restore = await backup('newest')
const remembered = readFileSync(stateFile, 'utf8')
const newest = (await newestCheckpoint(pool))?.size ?? 0
const [older = ''] = await notes()
t.beforeEach(async () => {
  await restore()
  writeFileSync(stateFile, remembered)
})

const changeEvent = `update event_store.events set data = convert_to('{"forged":1}', 'UTF8')
  where stream = 'guestToken-1' and revision = 30;`
const emptyTables = `delete from audit.tiles; delete from audit.checkpoints;
  update audit.tree set size = 0, unsigned_leaves = 0, commit_position = null, prepare_position = null, event_id = null;`
const removeSigned = `delete from event_store.events where type = 'CheckpointSigned';`
const replay = `insert into audit.checkpoints (size, root, note, recorded_at) select size, root, note, recorded_at from
  "newest audit.checkpoints" order by size limit 1;`
const forgeTiles = 'update audit.tiles set hashes = set_byte(hashes, 70, get_byte(hashes, 70) # 1) where level = 0;'

/** Fails unless a recorder with these variables stops for this reason, and signs nothing, also when the log grows. */
async function refuses(t: Test, why: RegExp, ...[url, variables]: [string | undefined, Record<string, string>]) {
  const before = await notes()
  const recorder = harness.start(signing(100, url, variables))
  const stops = async () => {
    const { stoppedBecause } = await auditFigures(pool)
    return recorder.state.role === 'stopped' && stoppedBecause !== null && why.test(stoppedBecause)
  }
  await waitFor(stops, { what: `the recorder to stop because of ${why}` })
  for (let event = 0; event < 30; event++) {
    await append(store, 'guestToken-2', 1)
    if (!(await stops())) t.fail('stays stopped while the log grows')
  }
  await recorder.stop()
  t.same(await notes(), before, 'nothing is signed')
  t.equal(readFileSync(stateFile, 'utf8'), remembered)
}

const attacks: readonly (readonly [string, string, RegExp, string | undefined, Record<string, string>])[] = [
  [
    'an event is changed and the tree emptied: the log',
    changeEvent + emptyTables,
    /in the log: the tree or/,
    undefined,
    {},
  ],
  [
    'an event is changed, tree and signed events are gone: the state file',
    changeEvent + emptyTables + removeSigned,
    /in AUDIT_STATE_FILE .*(the tree or the log was changed|the log was cut)/,
    undefined,
    withState,
  ],
  [
    'the same: a directory with published checkpoints',
    changeEvent + emptyTables + removeSigned,
    /in AUDIT_CHECKPOINT_URL/,
    target,
    {},
  ],
  [
    'the same, and an older signed checkpoint is in its place: the state file',
    changeEvent + emptyTables + removeSigned + replay,
    /in AUDIT_STATE_FILE/,
    undefined,
    withState,
  ],
  ['only tiles are changed: audit.checkpoints', forgeTiles, /in audit\.checkpoints: the tree or/, undefined, {}],
]
for (const [title, sql, why, url, variables] of attacks) {
  t.test(`nothing is signed when ${title} remembers it`, async (t) => {
    await pool.query(`begin; ${sql} commit`)
    await refuses(t, why, url, variables)
  })
}

t.test('nothing is signed after a rollback of the whole database, however the log grows', async (t) => {
  await rollBack()
  const why = new RegExp(`covers ${newest}: the log was cut|AUDIT_STATE_FILE .*the tree or the log was changed`)
  await refuses(t, why, undefined, withState)
})

t.test('a missing or an older state file does not keep a right tree from being signed', async (t) => {
  writeStateFile(stateFile, { checkpoint: older, ended_size: -1 })
  for (const path of [stateFile, join(directory, 'another', 'state')]) {
    await recordAndSign(harness.start(signing(100, undefined, { AUDIT_STATE_FILE: path })), 5)
    t.equal(readStateFile(path)?.checkpoint, (await notes()).at(-1))
  }
})

t.test('a crash between remembering a checkpoint and storing it is made up for', async (t) => {
  await pool.query(`delete from audit.checkpoints where size = ${newest}; update audit.tree set unsigned_leaves = 20`)
  await recordAndSign(harness.start(signing(100, undefined, withState)), 1)
  t.ok((await newestCheckpoint(pool))?.size)
})

t.test('a note of a key that nobody knows neither counts in Postgres nor is published', async (t) => {
  const foreign = parseSigningKey(newSigningKey('example.com/payments').signingKey)
  const note = signNote(`example.com/payments\n${newest - 1}\n${'A'.repeat(43)}=\n`, foreign)
  await pool.query('insert into audit.checkpoints (size, root, note) values ($1, $2, $3)', [newest - 1, '', note])
  const elsewhere = join(directory, 'elsewhere')
  await recordAndSign(harness.start(signing(100, String(pathToFileURL(elsewhere)), withState)), 5)
  t.ok(existsSync(elsewhere))
  t.notOk(existsSync(join(elsewhere, `checkpoint-${String(newest - 1).padStart(12, '0')}`)))
})

t.test('a new key signs after one checkpoint that the former one has signed too, and not without it', async (t) => {
  const { signingKey: newKey, verifierKey } = newSigningKey('example.com/payments')
  const [next, origin] = [parseVerifierKey(verifierKey), 'example.com/payments']
  const isRefused = (key: string, variables: Record<string, string>) =>
    refuses(t, /was signed by another key than AUDIT_SIGNING_KEY/, undefined, { AUDIT_SIGNING_KEY: key, ...variables })
  await isRefused(newKey, withState)
  await isRefused(newKey, {})
  const introducing = { AUDIT_SIGNING_KEY: newKey, AUDIT_PREVIOUS_SIGNING_KEY: signingKey, ...withState }
  const recorder = harness.start(signing(100, undefined, introducing))
  const introduced = await waitFor(
    async () => (await notes()).find((note) => note.includes(`— ${origin} `, note.indexOf('—') + 1)),
    {
      what: 'a checkpoint with two signatures',
    },
  )
  await recorder.stop()
  for (const key of [verifier, next]) t.match(openCheckpoint(introduced, key), { origin })
  const alone = harness.start(
    signing(100, undefined, { AUDIT_SIGNING_KEY: newKey, AUDIT_VERIFIER_KEYS: harness.verifierKey, ...withState }),
  )
  await recordAndSign(alone, 5)
  const last = (await notes()).at(-1) ?? ''
  t.throws(() => openCheckpoint(last, verifier), { message: /no signature of a known key/ })
  t.match(openCheckpoint(last, next), { origin })
})
