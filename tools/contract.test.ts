import { existsSync, readFileSync } from 'node:fs'
import t from 'tap'
import { contractRows, hasTest } from './contract.ts'

const root = new URL('..', import.meta.url)
const textOf = (file: string) => readFileSync(new URL(file, root), 'utf8')

t.test('every test that the contract names is there', async (t) => {
  const rows = contractRows(textOf('docs/contract.md'))
  t.ok(rows.length > 200)
  const isThere = (file: string) => existsSync(new URL(file, root))
  t.same(
    rows
      .filter(({ file, title }) => !isThere(file) || !hasTest(textOf(file), title))
      .map(({ requirement, file, title }) => `${requirement}: ${file}: ${title}`),
    [],
  )
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
for (const name of names) t.test(${'`'}${placeholder}: is (so)${'`'}, async () => {})
t.test('with \u2019 and \'', async () => {})
other('never a test')
`

t.test('titles are found as they are written, and composed ones with any part', async (t) => {
  for (const title of [
    'plain',
    "it's inner",
    "plain > it's inner",
    'on a line of its own',
    'x: is (so)',
    "with ’ and '",
  ])
    t.ok(hasTest(source, title), title)
  for (const title of ['plai', 'plain > other', ': is (so)', 'x: is so', 'never a test', 'Plain'])
    t.notOk(hasTest(source, title), title)
})
