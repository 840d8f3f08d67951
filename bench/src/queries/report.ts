// The results as lines for the terminal and rows for the table.
import type { BenchmarkRow, Figures } from '../harness/benchmark.ts'

/** Times of the API and of its SQL alone. Steps without SQL have only the first. */
export type Measured = { readonly name: string; readonly service: Figures; readonly sql?: Figures }

/** The accepted difference between the p99 of the API and of its SQL. */
const targetMs = 5
const nameWidth = 40
const cellWidth = 9

export function heading(rate: number | undefined): string {
  return `\n${columns(loadName(rate), ['API p50', 'p99', 'per s', 'SQL p50', 'p99', 'per s'])}`
}

export function line({ name, service, sql }: Measured): string {
  const cells = [service, ...(sql === undefined ? [] : [sql])].flatMap(({ p50, p99, perSecond }) => [
    p50.toFixed(2),
    p99.toFixed(2),
    perSecond.toFixed(0),
  ])
  return columns(name, cells)
}

/** No row for a step without SQL, which has no bound. */
export function rowsOf({ name, service, sql }: Measured, rate: number | undefined): BenchmarkRow[] {
  if (sql === undefined) return []
  return [
    {
      name: `${name}, p99, ${loadName(rate)}`,
      figure: service.p99,
      unit: 'ms',
      bound: { name: 'its SQL by pgbench', figure: sql.p99 },
      target: { of: 'difference', atMost: targetMs },
    },
  ]
}

function loadName(rate: number | undefined): string {
  return rate === undefined ? 'as fast as possible' : `${rate} requests a second`
}

function columns(name: string, cells: readonly string[]): string {
  return name.padEnd(nameWidth) + cells.map((cell) => cell.padStart(cellWidth)).join('')
}
