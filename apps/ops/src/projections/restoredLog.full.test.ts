// A log that was cut or replaced stops projector and API loudly, and `projections rebuild` repairs the read models.
import { restartTree } from '@paylog/audit-log/treeWriter'
import { projections } from '@paylog/projections/registry'
import { startFakeIdentity } from '@paylog/testing/fakeIdentity'
import { startProcess } from '@paylog/testing/processes'
import { waitFor } from '@paylog/testing/waitFor'
import t, { type Test } from 'tap'
import { projectionsHarness } from '../testing/projectionsHarness.ts'

const queryApi = new URL('../../../query-api/src/main.ts', import.meta.url)

async function runningSystem(t: Test) {
  const harness = await projectionsHarness(t)
  const projector = await harness.startProjector({ HEALTH_PORT: '0' })
  const { authUrl } = await startFakeIdentity(t)
  const { DATABASE_URL } = harness.env
  const env = { PORT: '0', DATABASE_URL, AUTH_URL: authUrl, LOG_LEVEL: 'warn' }
  const api = await startProcess(t, { script: queryApi, env })
  const isReady = async (page: unknown) => (await fetch(`${page}/health/ready`)).status === 200
  await harness.recordAll(5)
  await harness.caughtUp()
  return {
    harness,
    projector,
    /** Waits until both are ready, or neither is. */
    ready: (expected: boolean) =>
      waitFor(
        async () =>
          (await isReady(projector.detail.healthUrl)) === expected && (await isReady(api.detail.url)) === expected,
        { what: `projector and API to be ${expected ? '' : 'not '}ready` },
      ),
    rows: async (table: string) =>
      Number((await harness.pool.query(`select count(*) from read_models.${table}`)).rows[0]?.count),
  }
}

t.test('a log that is cut while the projector runs stops it until the tables are rebuilt', async (t) => {
  const { harness, projector, ready, rows } = await runningSystem(t)
  await ready(true)
  // The last events are those of a product.
  await harness.eventStore.cut(2)
  await harness.recordAll(3)
  await ready(false)
  // The tree of the log may have stopped first.
  await waitFor(() => projector.output().includes('the projection has stopped'), { what: 'the projection to stop' })
  t.match(projector.output(), /ops projections rebuild products/)
  const listed = await harness.run(['list'])
  t.match(listed.stdout, /was cut, restored or replaced/)
  t.equal(await rows('products'), 5, 'nothing is applied after the cut')
  const rebuilt = await harness.run(['rebuild', '--all'])
  t.equal(rebuilt.code, 0, rebuilt.stderr)
  // The tree of the log stays stopped, because a cut log is what it is there to find.
  await restartTree(harness.pool)
  await ready(true)
  t.equal(await rows('products'), 7, 'the product that the log lost is gone')
  t.equal((await harness.run(['verify', '--all'])).code, 0)
  await harness.recordAll(1)
  await harness.caughtUp()
  t.equal(await rows('products'), 8)
})

t.test('a log that is replaced while the projector is stopped stops it at its start', async (t) => {
  const { harness, projector, rows } = await runningSystem(t)
  await projector.stop()
  await harness.eventStore.empty()
  await harness.recordAll(9)
  const refused = await harness.run(['rebuild', '--all'])
  t.equal(refused.code, 1, 'it may be the wrong event store')
  t.match(refused.stderr, /is this the right event store\?/)
  const restarted = await harness.startProjector()
  await waitFor(() => restarted.output().split('the projection has stopped').length > projections.length, {
    what: 'every projection to stop',
  })
  t.equal(await rows('payments'), 5)
  const rebuilt = await harness.run(['rebuild', '--all'])
  t.equal(rebuilt.code, 0, rebuilt.stderr)
  await harness.caughtUp()
  t.equal(await rows('payments'), 9)
})
