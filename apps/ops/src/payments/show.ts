// `payments show`: prints the state, the history and the webhooks of a payment, now or as of a time.
import type { Writable } from 'node:stream'
import { loadConfig } from '@paylog/config/environment'
import { url } from '@paylog/config/kinds'
import { attentionOf } from '@paylog/domain/payments/attention'
import type { PaymentEvent } from '@paylog/domain/payments/events'
import { eventsUntil, paymentHistory } from '@paylog/domain/payments/history'
import { type Recorded, UnreadableEventError } from '@paylog/event-store/codec/codec'
import { closedKeys, type DataKeys } from '@paylog/event-store/codec/dataKeys'
import { createEventStore, type EventStore } from '@paylog/event-store/eventStore'
import { masterKeyVariables } from '@paylog/privacy/masterKeys'
import { paymentAfter, readPaymentEvents } from '@paylog/workflows/payments/readPayment'
import { type StaticDecode, Type } from 'typebox'
import { auditOn, readAuditReason, reasonHelp, reasonOption } from '../audit.ts'
import { type CliCommand, messageOf, OpsError, readArguments, readSince } from '../command.ts'
import { openKeys } from '../eventLog.ts'
import type { Print } from '../printTo.ts'
import { type PaymentDeliveries, readDeliveries } from './paymentDeliveries.ts'
import { readPaymentId } from './providerWorkflow.ts'
import { fieldsText, historyText, visible } from './showText.ts'

const Config = Type.Object({
  EVENTSTORE_URL: url(['esdb', 'esdb+discover']),
  DATABASE_URL: Type.Optional(url(['postgres', 'postgresql'])),
  PII_MASTER_KEY: Type.Optional(masterKeyVariables.PII_MASTER_KEY),
})

export const paymentsShow: CliCommand = {
  usage: 'ID [--at TIME] [--reason TEXT] [--json]',
  summary: 'Show a payment, its history and its webhooks, now or as of a time',
  details: [
    '  --at TIME      as of this time: 2026-11-01T00:00:00Z, or an age such as 90m, 24h, 7d',
    reasonHelp,
    '  --json         one object: the payment and its history, as in GET /admin/payments/{id} and …/history, and deliveries,',
    '                 each with the event_id, stream and revision that it came from; null when they cannot be read',
    '',
    'Each event is followed by its cause, a notification of the provider or a request, and by the deliveries that it',
    'led to: endpoint, webhook, mode, status, attempts, time of the last or next attempt, and id in the webhook log.',
    'The text also shows the notifications themselves, which the history leaves out. Deliveries are shown as they are',
    'now, also with --at. Without Postgres (DATABASE_URL) a line says why they cannot be shown, and without Postgres or',
    'the master key (PII_MASTER_KEY) another one why personal data is not.',
    '',
    'Everything else is derived from the events of the log, up to the first one that occurred later.',
    'Exits with 1 when the payment did not exist, and when this program cannot read one of its events: the history then',
    'ends before that event, and the state of the payment is not shown.',
  ].join('\n'),
  async run(args, { environment, print, errors }) {
    const { values, positionals } = readArguments(args, ['ID'], {
      at: { type: 'string' },
      ...reasonOption,
      json: { type: 'boolean' },
    })
    const id = readPaymentId(positionals[0])
    const reason = readAuditReason(values.reason)
    const time = values.at === undefined ? undefined : readSince(values.at, Date.now(), '--at')
    const config = loadConfig(Config, environment)
    const { keys, keyProblem, closeKeys } = await openKeysIfPossible(config, errors)
    const store = createEventStore({ connectionString: config.EVENTSTORE_URL, keys })
    try {
      const shown = historyAt(id, time, await readHistory(store, id))
      await auditOn(store, reason, { action: 'show_payment', target: { kind: 'payment', id } })
      const found = await readDeliveries(id, shown.events, { databaseUrl: config.DATABASE_URL, errors })
      const problems = [found.problem, keyProblem].flatMap((problem) => (problem === undefined ? [] : visible(problem)))
      if (values.json !== true) await printText(store, shown, { ...found, problems }, print)
      else {
        await printJson(store, shown, found, print)
        for (const problem of problems) errors.write(`${problem}\n`)
      }
      if (shown.unreadable !== undefined)
        throw new OpsError(
          `CANNOT BE READ: ${shown.unreadable.message}. The history ends before it, and the state of the payment is unknown.`,
        )
    } finally {
      await store.close()
      await closeKeys()
    }
  },
}

type OpenedKeys = {
  readonly keys: DataKeys
  /** Why personal data cannot be shown, in one line. */
  readonly keyProblem?: string
  closeKeys(): Promise<void>
}

/** Never fails: the rest of a payment is shown also while Postgres is down. */
async function openKeysIfPossible(
  { EVENTSTORE_URL, DATABASE_URL, PII_MASTER_KEY }: StaticDecode<typeof Config>,
  errors: Writable,
): Promise<OpenedKeys> {
  const without = (reason: string): OpenedKeys => ({
    keys: closedKeys,
    keyProblem: `Personal data cannot be shown: ${reason}`,
    closeKeys: async () => undefined,
  })
  if (DATABASE_URL === undefined) return without('DATABASE_URL is not set')
  if (PII_MASTER_KEY === undefined) return without('PII_MASTER_KEY is not set')
  try {
    const keys = await openKeys({ EVENTSTORE_URL, DATABASE_URL, PII_MASTER_KEY }, errors)
    return { keys, closeKeys: keys.close }
  } catch (error) {
    return without(messageOf(error))
  }
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

async function printJson(
  store: EventStore,
  shown: PaymentAtTime,
  { deliveries, problem }: PaymentDeliveries,
  print: Print,
): Promise<void> {
  const payment = await paymentOf(store, shown)
  const listed = problem === undefined ? deliveries.map(({ delivery }) => delivery) : null
  await print(JSON.stringify({ payment, history: paymentHistory(shown.events), deliveries: listed }))
}

async function printText(
  store: EventStore,
  shown: PaymentAtTime,
  { deliveries, problems }: Pick<PaymentDeliveries, 'deliveries'> & { readonly problems: readonly string[] },
  print: Print,
): Promise<void> {
  const { id, time, events } = shown
  await print(`Payment ${id}, ${time === undefined ? 'now' : `as of ${new Date(time).toISOString()}`}`)
  await print(`\n${historyText(events, deliveries)}\n`)
  for (const problem of problems) await print(`${problem}\n`)
  const payment = await paymentOf(store, shown)
  if (payment !== null) await print(fieldsText(payment))
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
