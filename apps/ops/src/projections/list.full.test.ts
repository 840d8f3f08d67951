// `projections list`, and how all commands handle an unreadable event and another schema version.
import { randomUUID } from 'node:crypto'
import { projections } from '@paylog/projections/registry'
import { waitFor } from '@paylog/testing/waitFor'
import t from 'tap'
import { projectionsHarness } from '../testing/projectionsHarness.ts'

const harness = await projectionsHarness(t)
const cells = (text: string) => text.split('\n').map((line) => line.trim().split(/ {2,}/))
const listed = async (more = {}) => JSON.parse((await harness.run(['list', '--json'], more)).stdout).projections

t.test('projections list shows tables before a projector ran and while one runs', async (t) => {
  await harness.recordAll(3)
  const before = await harness.run(['list'])
  t.equal(before.code, 0)
  t.same(cells(before.stdout)[0], ['Projection', 'Live table', 'Runs', 'Position', 'Lag', 'In progress'])
  t.match(before.stdout, /^ {2}payments +payments_v1 +no +start +6 events, \d+ s$/m)
  t.match(before.stdout, /^ {2}products +products_v1 +no +start +6 events, \d+ s$/m)
  await harness.startProjector()
  await harness.caughtUp()
  const { stdout } = await harness.run(['list'])
  t.match(stdout, /^ {2}payments +payments_v1 +yes +\d+ +0 events$/m)
  await waitFor(async () => (await listed())[0].tables[0].rows === 3, { what: 'the row estimate' })
  const [payments] = await listed()
  t.match(payments, {
    projection: 'payments',
    schema_version: Number,
    is_running: true,
    is_rebuilding: false,
    is_verifying: false,
    lag: { events: 0, is_more: false, seconds: 0 },
    tables: [{ table: 'payments_v1', version: 1, schema_version: Number, state: 'live', position: /^\d+$/, rows: 3 }],
  })
  t.ok(payments.tables[0].bytes > 0)
})

t.test('list, rebuild and verify name an unreadable event, and the live table stays', async (t) => {
  const event = {
    id: randomUUID(),
    contentType: 'application/json',
    type: 'AddressForgotten',
    data: {},
    metadata: {},
  } as const
  await harness.store.client.appendToStream('address-poison', [event])
  await waitFor(async () => !(await listed())[4].is_running, { what: 'the projection to stop' })
  const { stdout } = await harness.run(['list'])
  t.match(stdout, /^ {2}addresses +addresses_v1 +no +\d+ +1 event, \d+ s$/m)
  t.match(stdout, new RegExp(`\n\naddresses stopped at an event that it cannot read: event ${event.id} `))
  t.match(stdout, /^ {2}payments +payments_v1 +yes/m)

  const rebuilt = await harness.run(['rebuild', '--all', '--json'])
  t.equal(rebuilt.code, 1)
  t.match(
    rebuilt.stderr,
    new RegExp(
      `^(.*\n)*addresses was not rebuilt: event ${event.id} .*\\. Queries read addresses_v1, as before\\. addresses_v2 is unfinished`,
    ),
  )
  t.same(
    JSON.parse(rebuilt.stdout).projections.map((each: Record<string, unknown>) => [each.projection, each.outcome]),
    projections.map(({ name }) => [name, name === 'addresses' ? 'failed' : 'rebuilt']),
  )
  t.same(await harness.tables('addresses'), ['addresses_v1 live', 'addresses_v2 building'])
  // The rows up to there are right.
  t.match(await harness.run(['verify', 'addresses']), {
    code: 0,
    stdout: /^addresses: all 3 rows of addresses_v1 are equal to/,
  })
})

t.test('a table of another schema version is reported, and rebuild rejects a later one', async (t) => {
  await harness.pool.query("update read_models.tables set schema_version = 9 where projection = 'addresses'")
  t.match(
    (await harness.run(['list'])).stdout,
    '\n\naddresses_v1 has schema version 9, and this program supports up to 2: a later version runs elsewhere.\n',
  )
  t.match(await harness.run(['rebuild', 'addresses']), {
    code: 1,
    stderr:
      'addresses was not rebuilt: the live table has schema version 9, and this program supports up to 2: use ' +
      'the version of Paylog that created it. Queries read addresses_v1, as before.',
  })
  t.match(await harness.run(['verify', 'addresses']), {
    code: 1,
    stderr: /addresses was not checked: The live table has schema version 9, but this program has 2\.\n$/,
  })
})
