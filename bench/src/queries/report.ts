// What was measured, as lines for the terminal and as rows for the table.
import type { BenchmarkRow, Figures } from '../harness/benchmark.ts'

/** What the service needs, and its SQL alone; what asks no SQL has only the first. */
export type Measured = { readonly name: string; readonly service: Figures; readonly sql?: Figures }

/** How much longer than its SQL the 99th percentile of an answer may be. */
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

/** Nothing for what asks no SQL, and has nothing to be held against. */
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
  return rate === undefined ? 'as fast as the answers come' : `${rate} requests a second`
}

function columns(name: string, cells: readonly string[]): string {
  return name.padEnd(nameWidth) + cells.map((cell) => cell.padStart(cellWidth)).join('')
}
