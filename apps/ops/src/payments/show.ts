// `payments show`: prints the state, the history and the webhooks of a payment, now or as of a time.

import { paymentAfter, readPaymentEvents } from '@paylog/commands/payments/readPayment'
import { attentionOf } from '@paylog/domain/payments/attention'
import type { PaymentEvent } from '@paylog/domain/payments/events'
import { eventsUntil, paymentHistory } from '@paylog/domain/payments/history'
import { type Recorded, UnreadableEventError } from '@paylog/event-store/codec/codec'
import { closedKeys, type DataKeys } from '@paylog/event-store/codec/dataKeys'
import type { EventStore } from '@paylog/event-store/eventStore'
import { messageOf, OpsError } from '../command.ts'
import { defineCommand } from '../defineCommand.ts'
import { time } from '../options.ts'
import type { System } from '../system.ts'
import { visible } from '../texts.ts'
import { readDeliveries, shownDelivery } from './paymentDeliveries.ts'
import { readPaymentId } from './paymentOptions.ts'
import { fieldsText, historyText } from './showText.ts'

export const paymentsShow = defineCommand({
  summary: 'Show a payment, its history and its webhooks, now or as of a time',
  args: ['ID'],
  options: { at: time('as of this time') },
  audited: 'reason',
  json:
    'one object: the payment and its history, as in GET /admin/payments/{id} and …/history, and deliveries,\n' +
    'each with the event_id, stream and revision that it came from; null when they cannot be read',
  about: [
    'Each event is followed by its cause, a notification of the provider or a request, and by the deliveries that it',
    'led to: endpoint, webhook, mode, status, attempts, time of the last or next attempt, and id in the webhook log.',
    'The text also shows the notifications themselves, which the history leaves out. Deliveries are shown as they are',
    'now, also with --at. Without Postgres (DATABASE_URL) a line says why they cannot be shown, and without Postgres or',
    'the master key (PII_MASTER_KEY) another one why personal data is not.',
    '',
    'Everything else is derived from the events of the log, up to the first one that occurred later.',
    'Exits with 1 when the payment did not exist, and when this program cannot read one of its events: the history then',
    'ends before that event, and the state of the payment is not shown.',
  ],
  async run({ args, options, isJson, open, errors, audit }) {
    const id = readPaymentId(args[0])
    const { keys, keyProblem } = await openKeysIfPossible(open)
    const store = await open.store(keys)
    const shown = historyAt(id, options.at, await readHistory(store, id))
    await audit({ action: 'show_payment', target: { kind: 'payment', id } })
    const { deliveries, problem } = await readDeliveries(id, shown.events, open)
    const problems = [problem, keyProblem].flatMap((text) => (text === undefined ? [] : visible(text)))
    if (isJson) for (const text of problems) errors.write(`${text}\n`)
    const payment = await paymentOf(store, shown)
    const listed = problem === undefined ? deliveries.map(({ delivery }) => shownDelivery(delivery)) : null
    const when = options.at === undefined ? 'now' : `as of ${new Date(options.at).toISOString()}`
    const fields = payment === null ? [] : [fieldsText(payment)]
    return {
      json: { payment, history: paymentHistory(shown.events), deliveries: listed },
      text: [`Payment ${id}, ${when}`, historyText(shown.events, deliveries), ...problems, ...fields].join('\n\n'),
      problem: shown.unreadable && unreadableText(shown.unreadable),
    }
  },
})

const unreadableText = ({ message }: UnreadableEventError) =>
  `CANNOT BE READ: ${message}. The history ends before it, and the state of the payment is unknown.`

/** Never fails: the rest of a payment is shown also while Postgres is down. */
async function openKeysIfPossible(open: System): Promise<{ readonly keys: DataKeys; readonly keyProblem?: string }> {
  try {
    return { keys: await open.keys() }
  } catch (error) {
    return { keys: closedKeys, keyProblem: `Personal data cannot be shown: ${messageOf(error)}` }
  }
}

type PaymentAtTime = ReadableHistory & { readonly time: number | undefined }

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
  if (events.length === known.length && unreadable !== undefined) return { time, events, unreadable }
  if (first === undefined) throw new OpsError(`There is no payment ${id}.`)
  if (events.length === 0)
    throw new OpsError(`There was no payment ${id} at that time: it was created at ${first.data.occurred_at}.`)
  return { time, events, unreadable: undefined }
}

/** Undefined when an unreadable event may have changed the payment. */
async function paymentOf(store: EventStore, { events, time, unreadable }: PaymentAtTime) {
  if (unreadable !== undefined) return null
  return { ...(await paymentAfter(store, events, time)), attention: attentionOf(events) }
}

export type ReadableHistory = {
  readonly events: readonly Recorded<PaymentEvent>[]
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
  const events: Recorded<PaymentEvent>[] = []
  for (let limit = pageSize; ; ) {
    // The next revision, not the count: a truncated stream begins later.
    const from = (events.at(-1)?.revision ?? -1n) + 1n
    const page = await readPaymentEvents(store, id, { from, limit }).catch(unreadableOf)
    if (page instanceof UnreadableEventError) {
      if (limit === 1) return { events, unreadable: page }
      limit = Math.floor(limit / 2)
      continue
    }
    for (const event of page) events.push(event)
    if (page.length < limit) return { events, unreadable: undefined }
  }
}

function unreadableOf(error: unknown): UnreadableEventError {
  if (error instanceof UnreadableEventError) return error
  throw error
}
