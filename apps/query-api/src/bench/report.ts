// What was measured, as lines for the terminal.
import type { Figures } from './figures.ts'

/** What the service needs, and its SQL alone; what asks no SQL has only the first. */
export type Row = { readonly name: string; readonly service: Figures; readonly sql?: Figures }

/** How much longer than its SQL the 99th percentile of an answer may be. */
const targetMs = 5
const nameWidth = 40
const cellWidth = 9

export function heading(rate: number | undefined): string {
  const load = rate === undefined ? 'As fast as the answers come' : `${rate} requests a second`
  const titles = ['API p50', 'p99', 'per s', 'SQL p50', 'p99', 'per s', 'apart']
  return `\n${columns(load, titles)}  p99 within ${targetMs} ms`
}

/** How much longer the 99th percentile of the service is, in milliseconds. */
export function apart({ service, sql }: Row): number | undefined {
  return sql && service.p99 - sql.p99
}

export function line(row: Row): string {
  const { name, service, sql } = row
  const cells = [service, ...(sql === undefined ? [] : [sql])].flatMap(({ p50, p99, perSecond }) => [
    p50.toFixed(2),
    p99.toFixed(2),
    perSecond.toFixed(0),
  ])
  const ms = apart(row)
  return ms === undefined
    ? columns(name, cells)
    : `${columns(name, [...cells, ms.toFixed(2)])}  ${ms <= targetMs ? 'yes' : 'NO'}`
}

export function sentence(rows: readonly Row[]): string {
  const all = rows.map(apart).filter((ms) => ms !== undefined)
  const within = all.filter((ms) => ms <= targetMs).length
  return `${within} of ${all.length} within ${targetMs} ms, the worst ${Math.max(...all).toFixed(2)} ms apart`
}

function columns(name: string, cells: readonly string[]): string {
  return name.padEnd(nameWidth) + cells.map((cell) => cell.padStart(cellWidth)).join('')
}
