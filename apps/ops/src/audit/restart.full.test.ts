// A log that was cut stops the tree, and `audit restart` continues it without losing what was signed.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { checkpointText } from '@paylog/audit-log/checkpoint'
import { newSigningKey, parseSigningKey, signNote } from '@paylog/audit-log/note'
import { readStateFile, writeStateFile } from '@paylog/audit-log/stateFile'
import { readCheckpoints, readTree } from '@paylog/audit-log/treeStore'
import { createTreeWriter } from '@paylog/audit-log/treeWriter'
import { recordedActions } from '@paylog/commands/testing/recordedActions'
import { addAddressTo, createLogFixture } from '@paylog/projections/testing/logFixture'
import { waitFor } from '@paylog/testing/waitFor'
import t from 'tap'
import { projectionsHarness } from '../testing/projectionsHarness.ts'
import { runOps } from '../testing/runOps.ts'

const harness = await projectionsHarness(t)
const { pool, store, env, eventStore } = harness
const { signingKey } = newSigningKey('paylog.test/log')
const stateFile = join(t.testdir({}), 'audit-state')
const remembering = { AUDIT_SIGNING_KEY: signingKey, AUDIT_STATE_FILE: stateFile }
const AUDIT_CHECKPOINT_URL = pathToFileURL(join(t.testdirName, 'checkpoints')).href
const settings = { ...remembering, AUDIT_CHECKPOINT_URL, AUDIT_CHECKPOINT_INTERVAL: '200ms', HEALTH_PORT: '0' }
const run = (...args: readonly string[]) => runOps(['audit', ...args], { ...env, ...remembering })
const restart = (...flags: readonly string[]) => run('restart', '--reason', 'Restored from last night', ...flags)

/** Records one event only, because a second one may come between a checkpoint and the event of that. */
async function recordOne(): Promise<void> {
  const log = createLogFixture()
  addAddressTo(log)
  await harness.record(log.events)
}

/** Waits for this many checkpoints, and until the tree has the event of the last one too. @returns all checkpoints */
const signed = (count: number) =>
  waitFor(
    async () => {
      const checkpoints = await Array.fromAsync(readCheckpoints(pool))
      const last = checkpoints.at(-1)
      const isDone = last !== undefined && last.recorded_at !== null && (await readTree(pool)).size === last.size + 1
      return isDone && checkpoints.length === count && checkpoints
    },
    { what: `${count} checkpoints and their events` },
  )

t.test('audit restart continues the tree of a log that was cut, and keeps what was signed', async (t) => {
  const projector = await harness.startProjector(settings)
  await recordOne()
  await signed(1)
  await recordOne()
  const former = await signed(2)
  t.match(await restart(), { code: 1, stderr: /^The tree is in order: .*\n$/m }, 'nothing to restart')
  await projector.stop()
  // The last checkpoint's own event, and one that it covers.
  await eventStore.cut(2)
  await recordOne()
  const wrong = former.slice(-1)
  const right = former.slice(0, -1)
  const restarted = await harness.startProjector(settings)
  const isReady = async () => (await fetch(`${restarted.detail.healthUrl}/health/ready`)).ok
  await waitFor(async () => (await readTree(pool)).stoppedBecause !== null, { what: 'the tree to stop' })
  t.equal((await harness.run(['rebuild', '--all'])).code, 0)
  t.notOk(await isReady(), 'a rebuild does not continue the tree')
  const sizes = wrong.map(({ size }) => size)

  t.match(await run('restart'), { code: 2, stderr: /^--reason is missing/ })
  const actionsBefore = (await recordedActions(store)).length
  const dry = await run('restart', '--dry-run', '--json')
  t.match(JSON.parse(dry.stdout), { dry_run: true, kept: right.length, ended: sizes.map((size) => ({ size })) })
  t.equal((await recordedActions(store)).length, actionsBefore)
  t.equal((await Array.fromAsync(readCheckpoints(pool))).length, former.length, 'a dry run changes nothing')

  const done = await restart()
  t.equal(done.code, 0, done.stderr)
  const [ended] = wrong
  t.match(done.stdout, `  over ${ended?.size} events, signed at ${ended?.made_at.toISOString()}\n`)
  t.match((await recordedActions(store)).at(-1), {
    data: {
      action: 'restart_audit_tree',
      reason: 'Restored from last night',
      details: { ended: 1, largest_ended: sizes[0] },
    },
  })
  await waitFor(isReady, { what: 'the projector to be ready' })
  const now = await signed(2)
  t.match(readStateFile(stateFile), { checkpoint: now.at(-1)?.note, ended_size: ended?.size })
  t.same(
    now.slice(0, right.length).map(({ note }) => note),
    right.map(({ note }) => note),
  )

  const verified = await run('verify', '--json')
  t.match(JSON.parse(verified.stdout), {
    valid: true,
    checkpoints: now.length + 1,
    earlier_checkpoints: [{ size: ended?.size, root: ended?.root.toString('base64') }],
  })
  t.match(
    (await run('verify')).stdout,
    /^Not compared: 1 checkpoint of earlier trees.*\n {2}over \d+ events, signed at/m,
  )
  const kept = join(t.testdir({}), 'kept')
  writeFileSync(kept, ended?.note ?? '')
  const against = await run('verify', '--against', kept)
  t.equal(against.code, 3, 'a table of ours excuses nothing that somebody else kept')
  t.match(against.stdout, /^It is one of an earlier tree, which an operator has ended at /m)
  t.match(await restart(), { code: 1 })
  await restarted.stop()
})

t.test('audit restart builds a tree again that has an event twice', async (t) => {
  const projector = await harness.startProjector(settings)
  await recordOne()
  const before = await Array.fromAsync(readCheckpoints(pool))
  await signed(before.length + 1)
  await projector.stop()
  // As in 1.0.0 after an outage of the event store, with Node 24.16 or later.
  const writer = createTreeWriter(pool)
  const reached = await writer.start()
  const [last] = (await store.readBackwards().next()).value ?? []
  if (reached === undefined || last === undefined) throw new Error('the log is empty')
  const again = { ...last, position: { ...last.position, commit: last.position.commit + 1n } }
  await writer.append({ events: [again], position: reached })
  const restarted = await harness.startProjector(settings)
  await recordOne()
  await waitFor(async () => (await Array.fromAsync(readCheckpoints(pool))).length > before.length + 1, {
    what: 'a checkpoint',
  })
  t.match(await run('verify'), { code: 3 })
  const done = await restart()
  t.equal(done.code, 0, done.stderr)
  // The projector may have been reading the tree when it was emptied, and then stops for a second.
  const isRight = async () => (await readTree(pool)).stoppedBecause === null && (await run('verify')).code === 0
  await waitFor(isRight, { what: 'a tree that is right', timeoutMs: 20_000 })
  await restarted.stop()
})

t.test('audit restart begins again after a rollback of the whole database, and after the key was lost', async (t) => {
  const remembered = parseSigningKey(signingKey)
  const note = signNote(checkpointText({ origin: remembered.name, size: 1_000, root: Buffer.alloc(32) }), remembered)
  writeStateFile(stateFile, { checkpoint: note, ended_size: readStateFile(stateFile)?.ended_size ?? -1 })
  const rolledBack = await harness.startProjector(settings)
  const stops = async () => (await readTree(pool)).stoppedBecause ?? false
  // The projector before it may have left another reason.
  const isCut = async () => /AUDIT_STATE_FILE .* covers 1000: the log was cut/.test(String(await stops()))
  t.ok(await waitFor(isCut, { what: 'the tree to stop because the log was cut' }))
  t.match(await run('verify'), { code: 3 })
  t.match(await restart(), { code: 0 })
  await waitFor(async () => (await stops()) === false, { what: 'the tree to go on' })
  await rolledBack.stop()

  const { signingKey: newKey } = newSigningKey('paylog.test/log')
  const lost = await harness.startProjector({ ...settings, AUDIT_SIGNING_KEY: newKey })
  t.match(await waitFor(stops, { what: 'the tree to stop' }), /was signed by another key than AUDIT_SIGNING_KEY/)
  const reason = ['--reason', 'The key was lost']
  t.match(await runOps(['audit', 'restart', ...reason], { ...env, ...remembering, AUDIT_SIGNING_KEY: newKey }), {
    code: 0,
  })
  const verify = async () =>
    (await runOps(['audit', 'verify'], { ...env, ...remembering, AUDIT_SIGNING_KEY: newKey })).code
  await waitFor(async () => (await verify()) === 0, { what: 'a checkpoint of the new key' })
  await lost.stop()
})
