// The projections commands without an event store or a database.
import { recordLags } from '@paylog/projections/lag'
import { projections } from '@paylog/projections/registry'
import { createTestDatabase } from '@paylog/testing/testDatabase'
import t from 'tap'
import { projectionsHarness } from '../testing/projectionsHarness.ts'

const harness = await projectionsHarness(t)

t.test('without an event store, list uses the lags of the projectors and the other commands fail', async (t) => {
  await harness.recordAll(1)
  const EVENTSTORE_URL = 'esdb://127.0.0.1:1?tls=false'
  const lagsWith = async (url: string) => {
    const { code, stdout } = await harness.run(['list', '--json'], { EVENTSTORE_URL: url })
    t.equal(code, 0)
    return JSON.parse(stdout).projections.map((each: Record<string, unknown>) => each.lag)
  }
  t.same(
    await lagsWith(EVENTSTORE_URL),
    projections.map(() => null),
  )
  t.match((await harness.run(['list'], { EVENTSTORE_URL })).stdout, /^ {2}payments +payments_v1 +no +start +unknown$/m)
  await recordLags(
    harness.pool,
    new Map(projections.map(({ name }) => [name, { events: 0, isMore: false, seconds: 0 }])),
  )
  t.same(
    await lagsWith(''),
    projections.map(() => ({ events: 0, is_more: false, seconds: 0 })),
  )
  const rebuilt = await harness.run(['rebuild', 'payments', 'products'], { EVENTSTORE_URL })
  t.equal(rebuilt.code, 1)
  t.equal(rebuilt.stderr, 'The event store cannot be read at the moment (event_store_unavailable)\n')
  const verified = await harness.run(['verify', 'payments'], { EVENTSTORE_URL })
  t.match(verified, {
    code: 1,
    stderr: 'The event store cannot be read at the moment (event_store_unavailable)\n',
  })
  t.match(await harness.run(['rebuild', 'payments'], { EVENTSTORE_URL: '' }), {
    code: 1,
    stderr: /EVENTSTORE_URL is required/,
  })
})

t.test('the projections commands fail without a database, or with tables of another version', async (t) => {
  const DATABASE_URL = 'postgres://127.0.0.1:1/none'
  for (const args of [['list'], ['rebuild', '--all'], ['verify', '--all'], ['prune']])
    t.match(await harness.run(args, { DATABASE_URL }), {
      code: 1,
      stdout: '',
      stderr: 'Postgres cannot be reached: connect ECONNREFUSED 127.0.0.1:1\n',
    })
  const other = { DATABASE_URL: (await createTestDatabase(t)).databaseUrl }
  const stderr = /^the tables of this database do not match this version: run `npm run -s ops -- migrate` first/
  for (const args of [['list'], ['rebuild', '--all'], ['prune']])
    t.match(await harness.run(args, other), { code: 1, stdout: '', stderr })
})
