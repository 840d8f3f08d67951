// Concurrent rebuilds and prunes, and the tables that they leave.
import { projections as registry } from '@paylog/projections/registry'
import { matchList } from '@paylog/testing/assertions'
import { waitFor } from '@paylog/testing/waitFor'
import t from 'tap'
import { projectionsHarness, rebuildUpToIndexes } from '../testing/projectionsHarness.ts'

const harness = await projectionsHarness(t)
await harness.startProjector()
await harness.recordAll(5)
await harness.caughtUp()

t.test('a second rebuild of the same projection fails, one of another projection runs', async (t) => {
  const { command, release } = await rebuildUpToIndexes(harness)
  const second = await harness.run(['rebuild', 'addresses', 'products', '--json'])
  t.equal(second.code, 1)
  t.match(
    second.stderr,
    /addresses was not rebuilt: Another process is rebuilding addresses; try again when it has ended\. Queries/,
  )
  const { complete, projections } = JSON.parse(second.stdout)
  t.equal(complete, false)
  t.match(projections, [
    { projection: 'addresses', outcome: 'failed', reason: /^Another process is rebuilding addresses;/ },
    { projection: 'products', outcome: 'rebuilt', comparison: { equal: true } },
  ])
  const listed = JSON.parse((await harness.run(['list', '--json'])).stdout).projections
  t.same(
    listed.map((each: Record<string, unknown>) => [
      each.projection,
      each.is_running,
      each.is_rebuilding,
      each.is_verifying,
    ]),
    registry.map(({ name }) => [name, true, name === 'addresses', false]),
  )

  const dry = await harness.run(['prune', '--dry-run', '--json'])
  t.match(JSON.parse(dry.stdout), { dropped: [{ table: 'products_v1' }], left: [{ because: 'in use' }] })
  const pruned = await harness.run(['prune'])
  t.equal(pruned.code, 0, pruned.stderr)
  t.match(
    pruned.stdout,
    /^Dropped products_v1: retired since 20\S+Z, \d+\.\d kB\.\nKept addresses_v2: a rebuild or a verification is filling it\.\nFreed \d+\.\d kB\.\n$/,
  )
  await release()
  const first = await command.ended
  t.equal(first.code, 0, first.stderr)
  matchList(t, await harness.tables('addresses'), ['addresses_v1 retired', / live$/])
  t.same(await harness.tables('products'), ['products_v2 live'])
})

t.test('prune drops the table of a killed rebuild', async (t) => {
  const [live = ''] = (await harness.tables('addresses')).slice(-1)
  await harness.run(['prune'])
  t.same(await harness.tables('addresses'), [live])
  const release = await harness.hold('lock table read_models.addresses in access share mode')
  const command = harness.start(['rebuild', 'addresses'])
  await harness.blocked('view addresses')
  command.signal('SIGKILL')
  await command.ended
  await release()
  matchList(t, await harness.tables('addresses'), [live, / building$/])
  await waitFor(async () => !JSON.parse((await harness.run(['list', '--json'])).stdout).projections[2].is_rebuilding, {
    what: 'the lock to be free',
  })
  const { code, stdout } = await harness.run(['prune', 'addresses', '--json'])
  t.equal(code, 0)
  const pruned = JSON.parse(stdout)
  t.match(pruned, {
    complete: true,
    dry_run: false,
    dropped: [{ projection: 'addresses', state: 'building' }],
  })
  t.same(pruned.left, [])
  t.equal(pruned.freed_bytes, pruned.dropped[0].bytes)
  t.ok(pruned.freed_bytes > 0)
  t.same(await harness.tables('addresses'), [live])
})

t.test('prune keeps a table that is being read', async (t) => {
  await harness.run(['rebuild', 'products'])
  const [retired = ''] = await harness.tables('products')
  const release = await harness.hold(`lock table read_models.${retired.split(' ')[0]} in access share mode`)
  const { code, stdout } = await harness.run(['prune'])
  t.equal(code, 0)
  t.match(stdout, `Kept ${retired.split(' ')[0]}: it is still being read; try again later.\nNothing to drop.\n`)
  await release()
  t.match((await harness.run(['prune', 'products'])).stdout, `Dropped ${retired.split(' ')[0]}: retired since`)
  t.equal((await harness.run(['prune'])).stdout, 'Nothing to drop.\n')
})
