import { test } from 'tap'
import type { BenchmarkRow } from './benchmark.ts'
import { benchTable, isMet } from './benchTable.ts'

const bound = { name: 'COPY', figure: 200 }

test('isMet compares the figure, its ratio or its difference with the target', (t) => {
  const row = (figure: number, target: BenchmarkRow['target']): BenchmarkRow => ({
    name: 'rows',
    figure,
    unit: '/s',
    bound,
    ...(target && { target }),
  })
  t.equal(isMet(row(100, undefined)), undefined)
  t.equal(isMet(row(100, { of: 'figure', atLeast: 100 })), true)
  t.equal(isMet(row(99, { of: 'figure', atLeast: 100 })), false)
  t.equal(isMet(row(100, { of: 'ratio', atLeast: 0.5 })), true)
  t.equal(isMet(row(101, { of: 'ratio', atMost: 0.5 })), false)
  t.equal(
    isMet({ ...row(101, { of: 'ratio', atMost: 0.5 }), ratio: 0.4 }),
    true,
    'the ratio of the rounds takes precedence',
  )
  t.equal(isMet(row(205, { of: 'difference', atMost: 5 })), true)
  t.equal(isMet(row(206, { of: 'difference', atMost: 5 })), false)
  t.equal(isMet({ name: 'rows', figure: 1, unit: '/s', target: { of: 'ratio', atMost: 2 } }), false, 'without a bound')
  t.end()
})

test('benchTable prints the machine, a row for each figure, and the reason of a failed benchmark', (t) => {
  const rows: BenchmarkRow[] = [
    { name: 'rows', figure: 1234.5, unit: '/s', bound, target: { of: 'ratio', atLeast: 0.5 } },
    {
      name: 'responses',
      figure: 12.345,
      unit: 'ms',
      bound: { name: 'SQL', figure: 1.5 },
      target: { of: 'difference', atMost: 5 },
    },
    { name: 'others', figure: 0.5, unit: 'ms' },
  ]
  const table = benchTable(
    [
      { name: 'rebuild', loadBefore: 0.26, postgres: 'Postgres 18.4 (fsync=on)', rows },
      { name: 'queries', loadBefore: 2, failure: 'pgbench was not found' },
    ],
    new Date('2026-01-02T03:04:05Z'),
  )
  const lines = table.split('\n')
  t.match(
    lines[0],
    /^Measured on 2026-01-02: \d+ cores \(.+\), \d+ GiB, .+, Node v\d+.*, Postgres 18\.4 \(fsync=on\)\.$/,
  )
  t.same(lines.slice(2), [
    '|                              | figure  | bounded by   | ratio | target      | met |',
    '| ---------------------------- | ------- | ------------ | ----- | ----------- | --- |',
    '| **rebuild**, load before 0.3 |         |              |       |             |     |',
    '| rows                         | 1,235/s | COPY: 200/s  | 6.17  | ratio ≥ 0.5 | yes |',
    '| responses                    | 12.3 ms | SQL: 1.50 ms | 8.23  | ≤ 5 ms more | NO  |',
    '| others                       | 0.50 ms | –            | –     | –           | –   |',
    '| **queries**, load before 2.0 |         |              |       |             |     |',
    '| pgbench was not found        | failed  |              |       |             | NO  |',
    '',
    '1 of 2 targets met',
  ])
  t.end()
})
