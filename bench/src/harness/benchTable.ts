// Prints the results as a Markdown table, for the terminal and docs/measurements/performance.md.
import { cpus, release, totalmem } from 'node:os'
import { type BenchmarkRow, type BenchmarkTarget, formatNumber } from './benchmark.ts'

/** The rows of a benchmark, or the reason of its failure. */
export type BenchmarkReport = {
  readonly name: string
  /** Load average of the minute before it started, other processes included. */
  readonly loadBefore: number
} & ({ readonly postgres: string; readonly rows: readonly BenchmarkRow[] } | { readonly failure: string })

const header = ['', 'figure', 'bounded by', 'ratio', 'target', 'met'] as const

/** The machine, date and software, then a row for each figure. */
export function benchTable(reports: readonly BenchmarkReport[], now: Date): string {
  const lines = reports.flatMap((report) => {
    const title = [`**${report.name}**, load before ${report.loadBefore.toFixed(1)}`, '', '', '', '', '']
    if ('failure' in report) return [title, [report.failure, 'failed', '', '', '', 'NO']]
    return [title, ...report.rows.map(cells)]
  })
  const targets = reports.flatMap((report) => ('rows' in report ? report.rows.map(isMet) : []))
  const known = targets.filter((isReached) => isReached !== undefined)
  const met = known.filter((isReached) => isReached).length
  return [environment(reports, now), '', markdown(header, lines), '', `${met} of ${known.length} targets met`].join(
    '\n',
  )
}

/** @returns undefined for a row without a target */
export function isMet(row: BenchmarkRow): boolean | undefined {
  if (row.target === undefined) return undefined
  const measured = measuredFigure(row, row.target.of)
  if (measured === undefined) return false
  return 'atLeast' in row.target ? measured >= row.target.atLeast : measured <= row.target.atMost
}

function environment(reports: readonly BenchmarkReport[], now: Date): string {
  const postgres = new Set(reports.flatMap((report) => ('postgres' in report ? [report.postgres] : [])))
  const machine = `${cpus().length} cores (${cpus()[0]?.model.trim() ?? 'unknown'}), ${formatNumber(totalmem() / 2 ** 30)} GiB`
  const system = `${process.platform} ${release()}`
  return `Measured on ${now.toISOString().slice(0, 10)}: ${[machine, system, `Node ${process.version}`, ...postgres].join(', ')}.`
}

function cells(row: BenchmarkRow): string[] {
  const { name, figure, unit, bound, target } = row
  const ratio = ratioOf(row)
  const met = isMet(row)
  return [
    name,
    amount(figure, unit),
    bound === undefined ? '–' : `${bound.name}: ${amount(bound.figure, unit)}`,
    ratio === undefined ? '–' : ratio.toFixed(2),
    target === undefined ? '–' : wanted(target, unit),
    met === undefined ? '–' : met ? 'yes' : 'NO',
  ]
}

const ratioOf = ({ figure, bound, ratio }: BenchmarkRow) => ratio ?? (bound && figure / bound.figure)

function measuredFigure(row: BenchmarkRow, of: BenchmarkTarget['of']): number | undefined {
  if (of === 'figure') return row.figure
  return of === 'ratio' ? ratioOf(row) : row.bound && row.figure - row.bound.figure
}

function wanted(target: BenchmarkTarget, unit: BenchmarkRow['unit']): string {
  const [sign, limit] = 'atLeast' in target ? ['≥', target.atLeast] : ['≤', target.atMost]
  if (target.of === 'ratio') return `ratio ${sign} ${limit}`
  return target.of === 'figure' ? `${sign} ${amount(limit, unit)}` : `${sign} ${amount(limit, unit)} more`
}

/** With at least three significant digits: 5,880/s, 12.3 ms. */
function amount(value: number, unit: BenchmarkRow['unit']): string {
  const digits = Number.isInteger(value) || value >= 100 ? 0 : value >= 10 ? 1 : 2
  return `${formatNumber(value, digits)}${unit === '/s' ? '' : ' '}${unit}`
}

function markdown(titles: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = titles.map((title, column) =>
    Math.max(title.length, 3, ...rows.map((row) => row[column]?.length ?? 0)),
  )
  const line = (texts: readonly string[]) =>
    `| ${widths.map((width, column) => (texts[column] ?? '').padEnd(width)).join(' | ')} |`
  return [line(titles), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)].join('\n')
}
