// `payment show`: prints the state and the history of a payment, now or as of a time.
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

const Config = Type.Object({ EVENTSTORE_URL: url(['esdb', 'esdb+discover']) })

export const paymentShow: CliCommand = {
  usage: 'ID [--at TIME] [--json]',
  summary: 'Show a payment and its history, now or as of a time',
  details: [
    '  --at TIME  as of this time: 2026-11-01T00:00:00Z, or an age such as 90m, 24h, 7d',
    '  --json     one object: the payment and its history, as in GET /admin/payments/{id} and …/history',
    '',
    'Everything is derived from the events of the log, up to the first one that occurred later.',
    'Exits with 1 when the payment did not exist, and when this program cannot read one of its events: the history then',
    'ends before that event, and the state of the payment is not shown.',
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
          `CANNOT BE READ: ${shown.unreadable.message}. The history ends before it, and the state of the payment is unknown.`,
        )
    } finally {
      await store.close()
    }
  },
}

type PaymentAtTime = ReadableHistory & { readonly id: string; readonly time: number | undefined }

/**
 * The part of the history to show.
 * @throws OpsError when the payment did not exist at that time
 */
function historyAt(
  id: string,
  time: number | undefined,
  { events: known, unreadable }: ReadableHistory,
): PaymentAtTime {
  const events = time === undefined ? known : eventsUntil(known, time)
  const [first] = known
  // An unreadable event has no known time. It is later than `time` if an event before it is.
  if (events.length === known.length && unreadable !== undefined) return { id, time, events, unreadable }
  if (first === undefined) throw new OpsError(`There is no payment ${id}.`)
  if (events.length === 0)
    throw new OpsError(`There was no payment ${id} at that time: it was created at ${first.data.occurred_at}.`)
  return { id, time, events, unreadable: undefined }
}

async function printJson(store: EventStore, shown: PaymentAtTime, print: Print): Promise<void> {
  const payment = await paymentOf(store, shown)
  await print(JSON.stringify({ payment, history: paymentHistory(shown.events) }))
}

async function printText(store: EventStore, shown: PaymentAtTime, print: Print): Promise<void> {
  const { id, time, events } = shown
  await print(`Payment ${id}, ${time === undefined ? 'now' : `as of ${new Date(time).toISOString()}`}`)
  await print(`\n${historyText(paymentHistory(events))}\n`)
  const payment = await paymentOf(store, shown)
  if (payment !== null) await print(fieldsText(payment))
}

/** Undefined when an unreadable event may have changed the payment. */
async function paymentOf(store: EventStore, { events, time, unreadable }: PaymentAtTime) {
  return unreadable === undefined ? await paymentAfter(store, events, time) : null
}

export type ReadableHistory = {
  readonly events: readonly RecordedPaymentEvent[]
  /** The event after these that cannot be read, or undefined when all were read. */
  readonly unreadable: UnreadableEventError | undefined
}

/** Longer streams are read in pages. */
const pageSize = 500

/**
 * Reads the events of a payment up to the first one that this program cannot decode. That one is found by bisecting the
 * page that contains it.
 * @param id as recorded
 * @throws DomainError `event_store_unavailable`
 */
export async function readHistory(store: EventStore, id: string): Promise<ReadableHistory> {
  const events: RecordedPaymentEvent[] = []
  for (let limit = pageSize; ; ) {
    // The next revision, not the count: a truncated stream begins later.
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

/** A table of time, event, resulting status and actor. */
export function historyText(history: readonly HistoryEntry[]): string {
  return table(
    ['Occurred', 'Event', 'Status after', 'Actor'],
    history.map(({ occurred_at, type, status_after, actor }) => [occurred_at, type, status_after, visible(actor)]),
  )
}

/** One line per field. */
export function fieldsText(payment: PaymentResource): string {
  const fields = Object.entries(payment)
  const width = Math.max(...fields.map(([name]) => name.length))
  return fields.map(([name, value]) => `  ${name.padEnd(width)}  ${valueText(value)}`).join('\n')
}

function valueText(value: unknown): string {
  if (value === null) return '-'
  return visible(typeof value === 'string' ? value : JSON.stringify(value))
}

/** Replaces control characters: clients may have written text that a terminal would interpret. */
const visible = (text: string) => text.replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, '?')
