// Summarises coverage by workspace.

type Count = { readonly total: number; readonly covered: number }
type Figures = { readonly lines: Count; readonly branches: Count; readonly functions: Count }

/** By path. */
export type CoverageSummary = Readonly<Record<string, Figures>>

const measures = ['lines', 'branches', 'functions'] as const

/** Folders with test support and benchmarks only. */
const forTests = /\/(testing|bench|fixtures)\//

/** @param path from the root @returns whether it is a source file and not for tests or benchmarks only */
export function isMeasured(path: string): boolean {
  if (!/^(apps|packages|projections|deploy|tools)\/.*\.(ts|mjs)$/.test(path)) return false
  return !/node_modules\/|\.test\.ts$/.test(path) && !forTests.test(path)
}

function workspaceOf(path: string): string {
  const [first = '', second = ''] = path.split('/')
  return first === 'apps' || first === 'packages' ? `${first}/${second}` : first
}

/** @param summary by path from the root @returns a Markdown table with a row for each workspace and a total */
export function coverageTable(summary: CoverageSummary): string {
  const files = Object.entries(summary)
  const workspaces = Map.groupBy(files, ([path]) => workspaceOf(path))
  const rows = [...workspaces]
    .toSorted(([one], [other]) => one.localeCompare(other))
    .map(([workspace, own]) => row(`\`${workspace}\``, own))
  return [
    '| workspace | files | lines | branches | functions |',
    '|---|---|---|---|---|',
    ...rows,
    row('**all**', files),
  ].join('\n')
}

function row(name: string, files: readonly (readonly [string, Figures])[]): string {
  const percent = measures.map((measure) => {
    const sum = (what: keyof Count) => files.reduce((total, [, figures]) => total + figures[measure][what], 0)
    return `${((100 * sum('covered')) / Math.max(sum('total'), 1)).toFixed(1)} %`
  })
  return `| ${[name, files.length, ...percent].join(' | ')} |`
}
