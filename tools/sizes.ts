// `npm run sizes`: how large the project is, beside its budgets (docs/development.md, "Budgets").
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** Parts without a budget. The other figures leave them out. */
const apart = {
  console: 'apps/console/',
  client: 'packages/client/',
  'embedded event store': 'apps/embedded-event-store/',
  verification: 'verification/',
  benchmarks: 'bench/',
} as const

export type Sizes = {
  readonly source: { readonly files: number; readonly lines: number }
  readonly tests: { readonly files: number; readonly lines: number }
  /** Lines of the parts that are left out, by name. */
  readonly apart: Readonly<Record<string, number>>
  readonly packages: number
  /** Words of the pages, without the contract and the measurements, which are tables. */
  readonly words: number
}

const isTest = (path: string) =>
  /\.test\.tsx?$|\/(testing|fixtures)\//.test(path) || path.startsWith('packages/testing/')
const isPage = (path: string) => /^docs\/(decisions\/)?[^/]+\.md$/.test(path) && path !== 'docs/contract.md'

/** @param read the text of a file @param paths all files of the project, relative to its root */
export function sizesOf(paths: readonly string[], read: (path: string) => string): Sizes {
  const linesOf = (some: readonly string[]) => some.reduce((sum, path) => sum + read(path).split('\n').length - 1, 0)
  const programs = paths.filter((path) => /^(packages|projections|apps|bench|verification)\/.*\.tsx?$/.test(path))
  const prefixes = Object.values(apart)
  const inside = programs.filter((path) => !prefixes.some((prefix) => path.startsWith(prefix)))
  const countOf = (some: readonly string[]) => ({ files: some.length, lines: linesOf(some) })
  return {
    source: countOf(inside.filter((path) => !isTest(path))),
    tests: countOf(inside.filter(isTest)),
    apart: Object.fromEntries(
      Object.entries(apart).map(([name, prefix]) => [
        name,
        linesOf(programs.filter((path) => path.startsWith(prefix) && !isTest(path))),
      ]),
    ),
    packages: new Set(paths.flatMap((path) => /^packages\/([^/]+)\/package\.json$/.exec(path)?.[1] ?? [])).size,
    words: paths.filter(isPage).reduce((sum, path) => sum + read(path).split(/\s+/).filter(Boolean).length, 0),
  }
}

function report({ source, tests, apart, packages, words }: Sizes): string {
  const rows: readonly (readonly [string, number | string, string])[] = [
    ['source lines', source.lines, '<= 52500'],
    ['source files', source.files, '<= 520'],
    ['test lines for one of source', (tests.lines / source.lines).toFixed(2), '<= 1.35'],
    ['packages', packages, '14'],
    ['words of the docs', words, '<= 36000'],
    ...Object.entries(apart).map(([name, lines]) => [`apart: ${name}`, lines, ''] as const),
  ]
  return rows.map(([what, is, aim]) => `${what.padEnd(30)}${String(is).padStart(8)}  ${aim}`.trimEnd()).join('\n')
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = fileURLToPath(new URL('..', import.meta.url))
  const listed = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], { cwd: root })
  const paths = listed.toString().trim().split('\n')
  process.stdout.write(`${report(sizesOf(paths, (path) => readFileSync(root + path, 'utf8')))}\n`)
}
