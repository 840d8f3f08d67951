// The events of one payment as far as they can be read.

import { loadConfig } from '@paylog/config/environment'
import { url } from '@paylog/config/kinds'
import { recordedId } from '@paylog/domain/fields'
import {
  eventsUntil,
  type HistoryEntry,
  paymentHistory,
  type RecordedPaymentEvent,
} from '@paylog/domain/payments/history'
import type { PaymentResource } from '@paylog/domain/payments/resource'
import { UnreadableEventError } from '@paylog/event-store/codec/codec'
import { createEventStore, type EventStore } from '@paylog/event-store/eventStore'
import { table } from '@paylog/runtime/process/table'
import { paymentAfter, readPaymentEvents } from '@paylog/workflows/payments/readPayment'
import { Type } from 'typebox'
import { type CliCommand, OpsError, readArguments, readSince, UsageError } from '../command.ts'
import type { Print } from '../printTo.ts'

export type ReadableHistory = {
  readonly events: readonly RecordedPaymentEvent[]
  /** What is wrong with the event behind them; undefined where the stream ends. */
  readonly unreadable: UnreadableEventError | undefined
}

/** Read at once; a long stream is read page by page. */
const pageSize = 500

/**
 * A payment's events up to the first one that this program cannot read, which is found by halving the pages that hold it.
 * @param id as it is recorded
 * @throws DomainError `event_store_unavailable`
 */
export async function readHistory(store: EventStore, id: string): Promise<ReadableHistory> {
  const events: RecordedPaymentEvent[] = []
  for (let limit = pageSize; ; ) {
    // Not how many there were: a stream whose beginning was cut off begins later.
    const from = (events.at(-1)?.revision ?? -1n) + 1n
    const page = await readHistoryPage(store, id, { from, limit })
    if (page instanceof UnreadableEventError) {
      if (limit === 1) return { events, unreadable: page }
      limit = Math.floor(limit / 2)
      continue
    }
    for (const event of page) events.push(event)
    if (page.length < limit) return { events, unreadable: undefined }
  }
}

async function readHistoryPage(
  store: EventStore,
  id: string,
  range: { readonly from: bigint; readonly limit: number },
) {
  try {
    return await readPaymentEvents(store, id, range)
  } catch (error) {
    if (error instanceof UnreadableEventError) return error
    throw error
  }
}

// A payment and its timeline for people, on a terminal.

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

// `payment show`: what a payment is, or was at a time, and everything that had happened to it by then.

const Config = Type.Object({ EVENTSTORE_URL: url(['esdb', 'esdb+discover']) })

export const paymentShow: CliCommand = {
  usage: 'ID [--at TIME] [--json]',
  summary: 'Show a payment and its timeline, at present or as of a time',
  details: [
    '  --at TIME  as of then: 2026-11-01T00:00:00Z, or so long ago: 90m, 24h, 7d',
    '  --json     one object: the payment and its history, as GET /admin/payments/{id} and …/history answer them',
    '',
    'All of it is told by the events of the log alone, up to the first one that occurred later.',
    'Exits with 1 when there was no such payment, and when there is an event that this program cannot read: the timeline',
    'then ends before it, and what the payment was is not told.',
  ].join('\n'),
  async run(args, { environment, print }) {
    const { values, positionals } = readArguments(args, ['ID'], { at: { type: 'string' }, json: { type: 'boolean' } })
    const id = recordedId(positionals[0])
    if (id === null) throw new UsageError('ID must be the id of a payment, a UUID')
    const time = values.at === undefined ? undefined : readSince(values.at, Date.now(), '--at')
    const store = createEventStore({ connectionString: loadConfig(Config, environment).EVENTSTORE_URL })
    try {
      const shown = historyAt(id, time, await readHistory(store, id))
      await (values.json === true ? printJson(store, shown, print) : printText(store, shown, print))
      if (shown.unreadable !== undefined)
        throw new OpsError(
          `CANNOT BE READ: ${shown.unreadable.message}. The timeline ends before it, and what the payment was is unknown.`,
        )
    } finally {
      await store.close()
    }
  },
}

type ShownPayment = ReadableHistory & { readonly id: string; readonly time: number | undefined }

/**
 * What is to be shown of a payment's past.
 * @throws OpsError when there was no such payment at that time
 */
function historyAt(id: string, time: number | undefined, { events: known, unreadable }: ReadableHistory): ShownPayment {
  const events = time === undefined ? known : eventsUntil(known, time)
  const [first] = known
  // Nobody knows when it occurred, but not by then if something in front of it occurred later.
  if (events.length === known.length && unreadable !== undefined) return { id, time, events, unreadable }
  if (first === undefined) throw new OpsError(`There is no payment ${id}.`)
  if (events.length === 0) throw new OpsError(`There was no payment ${id} then: it began at ${first.data.occurred_at}.`)
  return { id, time, events, unreadable: undefined }
}

async function printJson(store: EventStore, shown: ShownPayment, print: Print): Promise<void> {
  const payment = await paymentOf(store, shown)
  await print(JSON.stringify({ payment, history: paymentHistory(shown.events) }))
}

async function printText(store: EventStore, shown: ShownPayment, print: Print): Promise<void> {
  const { id, time, events } = shown
  await print(`Payment ${id}, ${time === undefined ? 'at present' : `as of ${new Date(time).toISOString()}`}`)
  await print(`\n${timelineText(paymentHistory(events))}\n`)
  const payment = await paymentOf(store, shown)
  if (payment !== null) await print(fieldsText(payment))
}

/** Nobody knows what it is, when something happened to it that cannot be read. */
async function paymentOf(store: EventStore, { events, time, unreadable }: ShownPayment) {
  return unreadable === undefined ? await paymentAfter(store, events, time) : null
}
