// The JSON reports of rebuild and verify, and those of many rows.
import t from 'tap'
import { projectionsHarness } from '../testing/projectionsHarness.ts'

const harness = await projectionsHarness(t)
await harness.startProjector()
await harness.recordAll(12)

t.test('projections rebuild --json reports its result', async (t) => {
  await harness.caughtUp()
  const different = (await harness.tamper('products')).different
  const { code, stdout } = await harness.run(['rebuild', 'products', 'payments', '--json'])
  t.equal(code, 0)
  const { complete, projections } = JSON.parse(stdout)
  t.same([complete, projections.length], [true, 2])
  const [products, payments] = projections
  t.match(payments, {
    projection: 'payments',
    outcome: 'rebuilt',
    table: 'payments_v2',
    version: 2,
    schema_version: Number,
    replaced: 'payments_v1',
    comparison: { equal: true, position: /^\d+$/, differing: 0, differences: [], truncated: false },
  })
  t.equal(payments.rows * 2, payments.events)
  t.same(payments.comparison.rows, { found: payments.rows, expected: payments.rows })
  t.equal(payments.comparison.hash.found, payments.comparison.hash.expected)
  t.match(products, { events: 24, rows: 12, comparison: { equal: false, differing: 3, truncated: false } })
  t.match(
    products.comparison.differences.find(({ id }: { id: string }) => id === different),
    { kind: 'different', columns: [{ column: 'name', found: 'tampered', expected: 'Example' }] },
  )
})

t.test('of many differing rows the first are shown and all are counted', async (t) => {
  await harness.recordAll(100)
  await harness.caughtUp()
  await harness.pool.query(`update read_models.${await harness.live('addresses')} set city = repeat('x', 600)`)
  const verified = await harness.run(['verify', 'addresses'])
  t.equal(verified.code, 3)
  t.equal(verified.stdout.match(/^ {2}\S+ {2}different$/gm)?.length, 100)
  t.match(verified.stdout, /\n {2}… and 12 more\.\naddresses: 112 rows differ \(0 missing, 0 extra, 112 different\)/)
  t.ok(verified.stdout.split('\n').every((line) => line.length < 200))
  const machine = JSON.parse((await harness.run(['verify', 'addresses', '--json'])).stdout).projections[0]
  t.same([machine.differences.length, machine.differing, machine.truncated], [100, 112, true], 'more are only counted')
  t.equal(machine.differences[0].columns[0].found, '[redacted]')
  const rebuilt = await harness.run(['rebuild', 'addresses'])
  t.equal(rebuilt.stdout.match(/^ {2}\S+ {2}different$/gm)?.length, 20)
  t.match(rebuilt.stdout, '\n  … and 92 more.\n')
  t.match(rebuilt.stdout, /112 rows of addresses_v1 differed/)
})
