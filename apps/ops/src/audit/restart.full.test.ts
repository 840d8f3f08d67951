// A log that was cut stops the tree, and `audit restart` continues it without losing what was signed.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { newSigningKey } from '@paylog/audit-log/note'
import { readCheckpoints, readTree } from '@paylog/audit-log/treeStore'
import { addAddressTo, createLogFixture } from '@paylog/projections/testing/logFixture'
import { waitFor } from '@paylog/testing/waitFor'
import { recordedDeeds } from '@paylog/workflows/testing/recordedDeeds'
import t from 'tap'
import { projectionsHarness } from '../testing/projectionsHarness.ts'
import { runOps } from '../testing/runOps.ts'

const harness = await projectionsHarness(t)
const { pool, store, env, eventStore } = harness
const { signingKey } = newSigningKey('paylog.test/log')
const settings = { AUDIT_SIGNING_KEY: signingKey, AUDIT_CHECKPOINT_INTERVAL: '200ms', HEALTH_PORT: '0' }
const run = (...args: readonly string[]) => runOps(['audit', ...args], { ...env, AUDIT_SIGNING_KEY: signingKey })
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
  const deedsBefore = (await recordedDeeds(store)).length
  const dry = await run('restart', '--dry-run', '--json')
  t.match(JSON.parse(dry.stdout), { dry_run: true, kept: right.length, ended: sizes.map((size) => ({ size })) })
  t.equal((await recordedDeeds(store)).length, deedsBefore)
  t.equal((await Array.fromAsync(readCheckpoints(pool))).length, former.length, 'a dry run changes nothing')

  const done = await restart()
  t.equal(done.code, 0, done.stderr)
  const [ended] = wrong
  t.match(done.stdout, `  over ${ended?.size} events, signed at ${ended?.made_at.toISOString()}\n`)
  t.match((await recordedDeeds(store)).at(-1), {
    data: {
      action: 'restart_audit_tree',
      reason: 'Restored from last night',
      details: { ended: 1, largest_ended: sizes[0] },
    },
  })
  await waitFor(isReady, { what: 'the projector to be ready' })
  const now = await signed(2)
  t.same(
    now.slice(0, right.length).map(({ note }) => note),
    right.map(({ note }) => note),
  )

  const verified = await run('verify', '--json')
  t.match(JSON.parse(verified.stdout), {
    valid: true,
    checkpoints: now.length,
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
})
