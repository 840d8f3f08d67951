// Ctrl-C during a rebuild or a verification changes nothing that queries read.

import { recordChangedProduct } from '@paylog/projections/testing/traffic'
import { waitFor } from '@paylog/testing/waitFor'
import t, { type Test } from 'tap'
import { projectionsHarness } from '../testing/projectionsHarness.ts'
import type { RunningCommand } from '../testing/runOps.ts'

const harness = await projectionsHarness(t)
await harness.startProjector()
await harness.recordAll(5)
await harness.caughtUp()

async function interrupt(command: RunningCommand): Promise<void> {
  command.signal('SIGINT')
  await waitFor(() => command.errors().includes('Stopping after'), { what: 'the command to be interrupted' })
}

async function assertUnchanged(t: Test, command: RunningCommand): Promise<void> {
  const { code, stdout, stderr } = await command.ended
  t.same([code, stdout], [1, ''], stderr)
  t.match(stderr, unchanged('addresses'))
  t.same(await harness.tables('addresses'), ['addresses_v1 live', 'addresses_v2 building'])
}

const unchanged = (name: string) =>
  `${name} was not rebuilt: it was interrupted. Queries read ${name}_v1, as before. ${name}_v2 is unfinished. ` +
  'The next rebuild continues it; `projections prune` drops it.\n'

t.test('a rebuild interrupted while comparing rows changes nothing', async (t) => {
  const release = await harness.hold('lock table read_models.addresses_v1 in access exclusive mode')
  const command = harness.start(['rebuild', 'addresses'])
  await harness.blocked('addresses_v1')
  await interrupt(command)
  await release()
  await assertUnchanged(t, command)
})

t.test('a rebuild says that it continues an interrupted one, and after which position', async (t) => {
  const { stdout } = await harness.run(['rebuild', 'addresses'])
  t.match(stdout, /\n {2}It continued an interrupted rebuild after position \d+ of the log\.\n/)
  t.match(stdout, 'addresses: rebuilt from 0 events')
  t.same(await harness.tables('addresses'), ['addresses_v1 retired', 'addresses_v2 live'])
  const again = JSON.parse((await harness.run(['rebuild', 'addresses', '--json'])).stdout)
  t.match(again.projections, [{ outcome: 'rebuilt', resumed_after: null, events: 5 }])
})

t.test('an interrupted verification leaves no table', async (t) => {
  const live = await harness.live('addresses')
  const release = await harness.hold(`lock table read_models.${live} in access exclusive mode`)
  const command = harness.start(['verify', 'addresses', 'products', '--json'])
  await harness.blocked(live)
  await interrupt(command)
  await release()
  const { code, stdout, stderr } = await command.ended
  t.equal(code, 1)
  const { complete, equal, projections } = JSON.parse(stdout)
  t.same([complete, equal], [false, false])
  t.match(projections.at(-1), { projection: 'products', outcome: 'not begun' })
  t.match(stderr, 'products was not checked: it was not started.\n')
  t.notMatch((await harness.tables('addresses')).join(), 'scratch')
})

t.test('a rebuild interrupted while reading the log changes nothing', async (t) => {
  for (let product = 0; product < 16; product++) await recordChangedProduct(harness.store, 1_000)
  await harness.caughtUp()
  const command = harness.start(['rebuild', 'products', '--json'])
  await waitFor(
    async () => {
      const { rows } = await harness.pool.query(
        "select from read_models.checkpoints where name = 'products@2' and commit_position > 0",
      )
      return rows.length === 1
    },
    { what: 'the first events to be in the new table' },
  )
  await interrupt(command)
  const { code, stdout, stderr } = await command.ended
  t.equal(code, 1)
  t.same(JSON.parse(stdout), {
    complete: false,
    projections: [{ projection: 'products', outcome: 'interrupted', reason: 'it was interrupted' }],
  })
  t.match(stderr, unchanged('products'))
  t.same(await harness.tables('products'), ['products_v1 live', 'products_v2 building'])
})
