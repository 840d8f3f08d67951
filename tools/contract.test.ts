import { globSync, readFileSync } from 'node:fs'
import t from 'tap'
import { contractIds, createContractRun, idsInSource, idsInTitle } from './contract.ts'

const root = new URL('..', import.meta.url)
const textOf = (file: string) => readFileSync(new URL(file, root), 'utf8')
const testFiles = globSync('{apps,packages,projections,deploy,tools}/**/*.test.ts', {
  cwd: root,
  exclude: (path) => path.endsWith('node_modules'),
})

t.test('each id of docs/contract.md is in a test title, and each id in a title is on the page', async (t) => {
  const ids = new Set(contractIds(textOf('docs/contract.md')))
  const fileOf = new Map(testFiles.flatMap((file) => idsInSource(textOf(file)).map((id) => [id, file])))
  t.ok(ids.size > 200)
  for (const id of ids) if (!fileOf.has(id)) t.fail(`no test title ends with [${id}]`)
  for (const [id, file] of fileOf) if (!ids.has(id)) t.fail(`[${id}] of ${file} is not in docs/contract.md`)
})

t.test('docs/contract.md has each section of the interface', async (t) => {
  const page = textOf('docs/contract.md')
  for (let section = 1; section <= 9; section++) t.match(page, new RegExp(`^## ${section}\\. `, 'm'))
})

t.test('contractIds rejects a table row without an id, and a duplicate id', async (t) => {
  t.same(contractIds('| id | requirement |\n|---|---|\n| 1-a-b | c |\n| 4.12-ab | c |\nText'), ['1-a-b', '4.12-ab'])
  for (const line of ['| a | b |', '| 1-ab | |', '| 1-ab | b | c |', '| [1-ab] | b |'])
    t.throws(() => contractIds(`\n${line}`), /contract\.md:2 is not/)
  t.throws(() => contractIds('| 1-ab | b |\n| 1-ab | c |'), /contract\.md:2 repeats the id 1-ab/)
})

// Composed, because this source is itself searched for titles with ids.
const titled = (ids: string) => `a [${ids}${']'}`

t.test('idsInSource and idsInTitle find ids at the end of titles only', async (t) => {
  for (const quote of ["'", '"', '`'])
    t.same(idsInSource(`${quote}${titled('1-ab 2.1-cd')}${quote}, ${quote}${titled('1-ab')}${quote}`), [
      '1-ab',
      '2.1-cd',
    ])
  t.same(idsInSource(`${titled('1-ab')} ${titled('b-c')}' ${titled('0-9')}'`), [])
  t.same(idsInTitle(titled('1-ab 2.1-cd')), ['1-ab', '2.1-cd'])
  for (const title of ['a', `${titled('1-ab')} b`, titled('b'), titled('1-ab, 1-cd')])
    t.same(idsInTitle(title), [], title)
})

const stream = String.raw`TAP version 14
# Subtest: a.test.ts
    # Subtest: one [1-passed 1-also]
        # Subtest: inner \# 1 [1-inner]
            ok 1 - should be equal
            1..1
        ok 1 - inner \# 1 [1-inner] # time=1ms
        1..1
    ok 1 - one [1-passed 1-also] # time=3.8ms
    ok 2 - through Redis [1-redis] # SKIP REDIS_TEST_URL is not set: Redis is NOT tested
    ok 3 - later [1-later] # TODO
    ok 4 - other [1-other] # SKIP filter: /one/
    not ok 5 - broken [1-broken] # time=1ms
    ok 6 - on Postgres [1-twice] # time=1ms
    ok 7 - on Redis [1-twice] # SKIP there is no Redis
    1..7
not ok 1 - a.test.ts # time=12.4ms
# { total: 1, pass: 1 }`

function verdictOf(...ids: readonly string[]) {
  const run = createContractRun((file) => (file === 'a.test.ts' ? ids : ['1-elsewhere']))
  for (const line of stream.split('\n')) run.add(line)
  return run.verdict()
}

t.test('an id is covered when a test with it passed, alone, nested, or as one of several', async (t) => {
  t.same(verdictOf('1-passed', '1-also', '1-inner', '1-twice'), { missing: [], untested: [] })
})

t.test('an id is missing when its tests failed, are marked todo, or did not run', async (t) => {
  t.same(verdictOf('1-broken', '1-later', '1-never'), {
    missing: [
      '[1-broken] of a.test.ts failed',
      '[1-later] of a.test.ts skipped: without a reason',
      '[1-never] of a.test.ts did not run',
    ],
    untested: [],
  })
})

t.test('an id is untested when its test is skipped for a missing program', async (t) => {
  t.same(verdictOf('1-redis'), {
    missing: [],
    untested: ['[1-redis] of a.test.ts skipped: REDIS_TEST_URL is not set: Redis is NOT tested'],
  })
})

t.test('ids of files that did not run and of filtered tests are ignored', async (t) => {
  t.same(verdictOf('1-other'), { missing: [], untested: [] })
})
