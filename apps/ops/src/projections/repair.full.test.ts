// `verify` finds and `rebuild` corrects wrong rows while payments are created.
import { setTimeout as pause } from 'node:timers/promises'
import { projections as registry } from '@paylog/projections/registry'
import { openPayment } from '@paylog/projections/testing/traffic'
import t, { type Test } from 'tap'
import { changedColumns, type ProjectionName, projectionsHarness } from '../testing/projectionsHarness.ts'

const names = Object.keys(changedColumns) as ProjectionName[]
const harness = await projectionsHarness(t)
await harness.startProjector()
await harness.recordAll(12)
await harness.recordRefundsAndDisputes(12)
await harness.caughtUp()

/** Creates payments until stopped, at the latest until the end of the test. @returns a function that returns their number */
function keepPaying(t: Test): () => Promise<number> {
  let isOver = false
  const paying = (async () => {
    let made = 0
    for (; !isOver; made++) {
      await openPayment(harness.store)
      await pause(50)
    }
    return made
  })()
  const stop = () => {
    isOver = true
    return paying
  }
  t.teardown(stop)
  return stop
}

t.test('tampered rows are found by verify and corrected by rebuild', async (t) => {
  await harness.caughtUp()
  const ids = new Map<string, Awaited<ReturnType<typeof harness.tamper>>>()
  for (const name of names) ids.set(name, await harness.tamper(name))
  const stopPaying = keepPaying(t)
  const verified = await harness.run(['verify', ...names, '--json'])
  t.equal(verified.code, 3, verified.stderr)
  t.match(verified.stderr, `Rows differ. To correct them: npm run -s ops -- projections rebuild ${names.join(' ')}\n`)
  const response = JSON.parse(verified.stdout)
  t.same([response.complete, response.equal, response.projections.length], [true, false, names.length])
  for (const [index, name] of names.entries()) {
    const { missing = '', extra = '', different = '' } = ids.get(name) ?? {}
    const verification = response.projections[index]
    t.match(verification, {
      projection: name,
      outcome: 'different',
      table: `${name}_v1`,
      version: 1,
      schema_version: Number,
    })
    t.same(
      [
        verification.differing,
        verification.missing,
        verification.extra,
        verification.different,
        verification.truncated,
      ],
      [3, 1, 1, 1, false],
      name,
    )
    t.match(verification.position, /^\d+$/)
    const column = changedColumns[name]
    const isSealed = registry.find((each) => each.name === name)?.columns[column]?.sealed !== undefined
    const found = isSealed ? '[redacted]' : 'tampered'
    const byId = new Map(verification.differences.map((row: { id: string }) => [row.id, row]))
    t.same(byId.get(missing), { id: missing, kind: 'missing' })
    t.same(byId.get(extra), { id: extra, kind: 'extra' })
    t.match(byId.get(different), { kind: 'different', columns: [{ column, found }] })
    t.same([...byId.keys()], [...byId.keys()].toSorted(), 'in the order of their ids')
  }
  t.notMatch(verified.stdout, /cs_|client_secret[^}]*tampered/, 'no secret is shown')

  const text = await harness.run(['verify', 'addresses'])
  const address = ids.get('addresses')
  t.equal(text.code, 3)
  t.match(text.stdout, 'addresses: rows that differ from the log:\n')
  t.match(text.stdout, `  ${address?.missing}  missing: it is in the log but not in the table\n`)
  t.match(text.stdout, `  ${address?.extra}  extra: it is in the table but not in the log\n`)
  t.match(text.stdout, `  ${address?.different}  different\n      city: "[redacted]" instead of "[redacted]"\n`)
  t.match(
    text.stdout,
    /\naddresses: 3 rows differ \(1 missing, 1 extra, 1 different\): addresses_v1 has 12 rows and should /,
  )

  const corrected = await harness.run(['rebuild', '--all'])
  t.equal(corrected.code, 0, corrected.stderr)
  for (const name of names) {
    t.match(corrected.stdout, new RegExp(`^${name}: rebuilt from \\d+ events in `, 'm'))
    t.match(corrected.stdout, new RegExp(`^ {2}3 rows of ${name}_v1 differed from the log`, 'm'))
    t.match(
      corrected.stdout,
      `\n  Queries read ${name}_v2.\n  ${name}_v1 is kept until \`projections prune ${name}\`.\n`,
    )
    t.match(corrected.stdout, `  ${ids.get(name)?.different}  different\n`)
  }
  t.notMatch(corrected.stdout, /cs_/)
  t.ok((await stopPaying()) > 0)
  await harness.caughtUp()
  t.equal((await harness.run(['verify', '--all'])).code, 0)
  for (const name of names) t.same(await harness.tables(name), [`${name}_v1 retired`, `${name}_v2 live`])
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
  t.match(rebuilt.stdout, /112 rows of addresses_v2 differed/)
  const { complete, projections } = JSON.parse((await harness.run(['rebuild', 'addresses', '--json'])).stdout)
  const all = { rows: { found: 112, expected: 112 }, differing: 0, differences: [], truncated: false }
  t.match(projections, [
    {
      ...{ outcome: 'rebuilt', table: 'addresses_v4', version: 4, schema_version: Number, replaced: 'addresses_v3' },
      ...{ rows: 112, comparison: { equal: true, position: /^\d+$/, ...all } },
    },
  ])
  const [{ comparison }] = projections
  t.same([complete, comparison.hash.found], [true, comparison.hash.expected])
})
