import t from 'tap'
import { coverageTable, isMeasured } from './coverageTable.ts'

const figures = (covered: number, total: number) => ({
  lines: { covered, total },
  branches: { covered: 1, total: 4 },
  functions: { covered: 0, total: 0 },
})

t.test('isMeasured accepts sources, but no tests or test support', (t) => {
  for (const path of ['apps/worker/src/main.ts', 'projections/src/a/b.ts', 'tools/bootstrap.mjs', 'deploy/x/y.ts'])
    t.equal(isMeasured(path), true, path)
  for (const path of [
    'apps/worker/src/main.test.ts',
    'packages/deliveries/src/testing/rig.ts',
    'apps/worker/src/bench/a.ts',
    'apps/api/src/testing/access/world.ts',
    'projections/src/fixtures/a.ts',
    'packages/testing/src/system.ts',
    'node_modules/pg/lib/index.js',
    'apps/worker/node_modules/a/b.ts',
    'docs/a.ts',
  ])
    t.equal(isMeasured(path), false, path)
  t.end()
})

t.test('coverageTable sums up files by workspace and in total', (t) => {
  const table = coverageTable({
    'projections/src/c.ts': figures(1, 3),
    'apps/worker/src/a.ts': figures(10, 10),
    'apps/worker/src/b.ts': figures(5, 10),
  })
  t.equal(
    table,
    [
      '| workspace | files | lines | branches | functions |',
      '|---|---|---|---|---|',
      '| `apps/worker` | 2 | 75.0 % | 25.0 % | 0.0 % |',
      '| `projections` | 1 | 33.3 % | 25.0 % | 0.0 % |',
      '| **all** | 3 | 69.6 % | 25.0 % | 0.0 % |',
    ].join('\n'),
  )
  t.end()
})
