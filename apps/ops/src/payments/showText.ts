// A payment and its timeline for people, on a terminal.
import type { HistoryEntry } from '@paylog/domain/payments/history'
import type { PaymentResource } from '@paylog/domain/payments/resource'
import { table } from '@paylog/runtime/process/table'

/** Aligned: when, what, what the payment was after it, and who. */
export function timelineText(history: readonly HistoryEntry[]): string {
  return table(
    ['Occurred', 'Event', 'Status after', 'Actor'],
    history.map(({ occurred_at, type, status_after, actor }) => [occurred_at, type, status_after, visible(actor)]),
  )
}

/** Every field on a line of its own. */
export function fieldsText(payment: PaymentResource): string {
  const fields = Object.entries(payment)
  const width = Math.max(...fields.map(([name]) => name.length))
  return fields.map(([name, value]) => `  ${name.padEnd(width)}  ${valueText(value)}`).join('\n')
}

function valueText(value: unknown): string {
  if (value === null) return '-'
  return visible(typeof value === 'string' ? value : JSON.stringify(value))
}

/** What clients wrote may hold characters that a terminal obeys. */
const visible = (text: string) => text.replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, '?')
