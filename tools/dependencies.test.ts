import { readFileSync } from 'node:fs'
import t from 'tap'
import { readDependencies } from './dependencies.ts'

const page = readFileSync(new URL('../docs/dependencies.md', import.meta.url), 'utf8')

/** The rows of the table below a heading, by their first cell. */
function tableBelow(heading: string): ReadonlyMap<string, readonly string[]> {
  const [section = ''] = (page.split(`## ${heading}\n`)[1] ?? '').split('\n## ')
  const [, , ...lines] = section.split('\n').filter((line) => line.startsWith('|'))
  const cells = lines.map((line) => line.slice(2, -2).split(' | '))
  return new Map(cells.map(([first = '', ...others]) => [first.replaceAll('`', ''), others]))
}

t.test('docs/dependencies.md lists every direct dependency once, with a reason and its licence', async (t) => {
  const { production, development } = await readDependencies()
  for (const [heading, expected] of [
    ['In production', production],
    ['In development', development],
  ] as const) {
    const rows = tableBelow(heading)
    t.same([...rows.keys()], [...expected.keys()], heading)
    for (const [name, [reason = '', licence]] of rows) {
      t.match(reason, /^\S.{10,}/, name)
      t.equal(licence, expected.get(name), name)
    }
  }
})

t.test('docs/dependencies.md lists the licences of everything that runs in production', async (t) => {
  const rows = tableBelow('Licences of everything that runs in production')
  const expected = [...(await readDependencies()).productionLicences].map(([licence, names]) => [
    licence,
    [names.join(', ')],
  ])
  t.same([...rows], expected)
  t.notMatch([...rows.keys()].join(), /GPL|AGPL|SSPL|BUSL|UNLICENSED/, 'no copyleft licence')
})
