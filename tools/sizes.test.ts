// What counts as source, as a test, and as neither.
import t from 'tap'
import { sizesOf } from './sizes.ts'

t.test('sizes: source and tests are counted apart, without the parts that have no budget', async (t) => {
  const lines = (count: number) => 'x y\n'.repeat(count)
  const files: Readonly<Record<string, string>> = {
    'packages/domain/package.json': lines(1),
    'packages/domain/src/a.ts': lines(10),
    'projections/src/b.ts': lines(5),
    'packages/domain/src/a.test.ts': lines(7),
    'packages/domain/src/testing/c.ts': lines(2),
    'packages/testing/src/d.ts': lines(3),
    'packages/testing/package.json': lines(1),
    'apps/console/src/e.tsx': lines(100),
    'apps/console/src/e.test.ts': lines(50),
    'verification/src/f.ts': lines(20),
    'tools/g.ts': lines(9),
    'docs/page.md': lines(4),
    'docs/decisions/0001.md': lines(1),
    'docs/contract.md': lines(90),
    'docs/measurements/page.md': lines(90),
  }
  t.same(
    sizesOf(Object.keys(files), (path) => files[path] ?? ''),
    {
      source: { files: 2, lines: 15 },
      tests: { files: 3, lines: 12 },
      apart: { console: 100, client: 0, 'embedded event store': 0, verification: 20, benchmarks: 0 },
      packages: 2,
      words: 10,
    },
  )
})
