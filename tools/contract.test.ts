import { globSync, readFileSync } from 'node:fs'
import t from 'tap'
import { contractIds, idsInSource, idsInTitle } from './contract.ts'

const root = new URL('..', import.meta.url)
const textOf = (file: string) => readFileSync(new URL(file, root), 'utf8')
const testFiles = globSync('{apps,packages,projections,deploy,tools}/**/*.test.ts', {
  cwd: root,
  exclude: (path) => path.endsWith('node_modules'),
})

t.test('each id of docs/contract.md is in a test title, and each id in a title is on the page', async (t) => {
  const ids = new Set(contractIds(textOf('docs/contract.md')))
  const homes = new Map(testFiles.flatMap((file) => idsInSource(textOf(file)).map((id) => [id, file])))
  t.ok(ids.size > 200)
  for (const id of ids) if (!homes.has(id)) t.fail(`no test title ends with [${id}]`)
  for (const [id, file] of homes) if (!ids.has(id)) t.fail(`[${id}] of ${file} is not in docs/contract.md`)
})

t.test('docs/contract.md has each section of the interface', async (t) => {
  const page = textOf('docs/contract.md')
  for (let section = 1; section <= 9; section++) t.match(page, new RegExp(`^## ${section}\\. `, 'm'))
})

t.test('contractIds rejects a table line without an id, and an id that repeats', async (t) => {
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
