import { existsSync, globSync, readFileSync } from 'node:fs'
import t from 'tap'
import { type ContractRow, contractRows, hasTest } from './contract.ts'

const root = new URL('..', import.meta.url)
const textOf = (file: string) => readFileSync(new URL(file, root), 'utf8')

/** Where a test may have moved to. */
const testFiles = () => globSync('{apps,packages,projections,deploy,tools}/**/*.test.ts', { cwd: root })
const homesOf = (title: string) => testFiles().filter((file) => hasTest(textOf(file), title))

t.test('every test that the contract names is there', async (t) => {
  const rows = contractRows(textOf('docs/contract.md'))
  t.ok(rows.length > 200)
  const isThere = ({ file, title }: ContractRow) => existsSync(new URL(file, root)) && hasTest(textOf(file), title)
  for (const row of rows.filter((row) => !isThere(row)))
    t.fail(`${row.requirement}: no test "${row.title}" in ${row.file}, but in: ${homesOf(row.title).join() || 'none'}`)
})

t.test('every section of the interface has its tables', async (t) => {
  const page = textOf('docs/contract.md')
  for (let section = 1; section <= 9; section++) t.match(page, new RegExp(`^## ${section}\\. `, 'm'))
})

t.test('a line of a table that names no test is a mistake', async (t) => {
  t.same(contractRows('| requirement | file | test |\n|---|---|---|\n| a | `b.test.ts` | `c` |\nText'), [
    { requirement: 'a', file: 'b.test.ts', title: 'c' },
  ])
  for (const line of ['| a | `b.test.ts` | |', '| a | b | `c` |', '| a | `b.test.ts` | `c` | d |'])
    t.throws(() => contractRows(`\n${line}`), /contract\.md:2 is not/)
})

/** Written apart, because here it is no placeholder. */
const placeholder = ['$', '{name}'].join('')
const source = String.raw`
t.test('plain', async (t) => {
  await t.test("it's inner", async () => {})
})
t.test(
  'on a line of its own',
  async () => {},
)
for (const name of names) t.test(${'`'}${placeholder}: is written out (so)${'`'}, async () => {})
for (const name of names) t.test(${'`'}${placeholder} is ${placeholder}${'`'}, async () => {})
t.test('with \u2019 and \'', async () => {})
other('never a test')
`

t.test('titles are found as they are written, and composed ones with any part', async (t) => {
  for (const title of [
    'plain',
    "it's inner",
    "plain > it's inner",
    'on a line of its own',
    'x: is written out (so)',
    "with ’ and '",
  ])
    t.ok(hasTest(source, title), title)
  for (const title of [
    'plai',
    'not plain',
    'plain too',
    'plain > other',
    ': is written out (so)',
    'x: is written out so',
    'x is y',
    'never a test',
    'Plain',
  ])
    t.notOk(hasTest(source, title), title)
})
