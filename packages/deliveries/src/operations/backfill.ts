// Deliveries that are made beside the worker's own reading of the log: without its checkpoint, due at once.

import type { LogPosition } from '@paylog/domain/events'
import type { Recorded } from '@paylog/event-store/codec/codec'
import type { EventStore } from '@paylog/event-store/eventStore'
import type { Projects } from '@paylog/webhooks/canonical'
import type { WebhookEndpoint } from '@paylog/webhooks/endpoints/endpoints'
import { type Outbound, outboundMessages } from '@paylog/webhooks/outbound'
import type { Pool } from 'pg'
import { streamPrefixes } from '../subscriptions/exclusiveSubscription.ts'
import { insertNewSql, newRows } from '../tables/recordDeliveries.ts'

/** Inserts those that are not there. @returns how many there were not */
async function insertMissing(pool: Pool, messages: readonly Outbound[], at: Date): Promise<number> {
  if (messages.length === 0) return 0
  const { rowCount } = await pool.query({
    name: 'insert-missing-deliveries',
    text: insertSql,
    values: [newRows(messages), at],
  })
  return rowCount ?? 0
}

const insertSql = insertNewSql({ rows: '$1', at: '$2', sweepAt: '$2' })

/** How many of them are not there. */
async function countMissing(pool: Pool, messages: readonly Outbound[]): Promise<number> {
  if (messages.length === 0) return 0
  const { rows } = await pool.query<{ present: number }>({
    name: 'count-present-deliveries',
    text: 'select count(*)::int as present from webhooks.deliveries where id = any($1::uuid[])',
    values: [messages.map(({ id }) => id)],
  })
  return messages.length - (rows[0]?.present ?? 0)
}

// Deliveries that a node should have got and never had: made from the log, with the ids that the worker would give.

export type BackfillOptions = {
  readonly endpoint: WebhookEndpoint
  readonly projects: Projects
  /** The event at this position is the first one; without it, the first of the log. */
  readonly from: LogPosition | undefined
  /** Older events are left out: what is kept no more would be made and sent again. */
  readonly notBefore: Date | undefined
  readonly isDryRun: boolean
  readonly now: () => Date
  /** Once it aborts no further event is read. */
  readonly signal: AbortSignal
  readonly onProgress: (done: BackfillResult) => void
}

export type BackfillResult = {
  readonly events: number
  /** Left out because of their age. */
  readonly tooOld: number
  /** Deliveries that were made, or in a dry run would be. */
  readonly missing: number
  /** Deliveries that were there. */
  readonly present: number
  /** Of the last event that is dealt with. */
  readonly position: LogPosition | undefined
}

/** Tests and simulations have streams of their own, and are never told again. */
const prefixes = streamPrefixes.filter((prefix) => prefix !== 'webhookTest-')
/** How many deliveries, and how much text, one statement may carry. A single event goes in whole. */
const sliceMessages = 200
const maxSliceCharacters = 4 * 1024 * 1024

/**
 * Maps the log for one node, with the configuration of today, and makes the deliveries that are not there. It may be
 * ended at any time and repeated: what is there stays as it is.
 * @returns how far it came, up to the end that the log has when it begins
 * @throws UnreadableEventError, DomainError `event_store_unavailable`, the database's errors
 */
export async function backfill(
  { pool, store }: { readonly pool: Pool; readonly store: EventStore },
  options: BackfillOptions,
): Promise<BackfillResult> {
  const { endpoint, projects, notBefore, isDryRun, now, signal, onProgress } = options
  const from = options.from && (await store.positionBefore(options.from))
  let done: BackfillResult = { events: 0, tooOld: 0, missing: 0, present: 0, position: undefined }
  for await (const { events, tooOld, messages, position } of backfillSlices(
    store,
    { from, notBefore, signal },
    (event) => outboundMessages(event, [endpoint], projects),
  )) {
    const missing = isDryRun ? await countMissing(pool, messages) : await insertMissing(pool, messages, now())
    done = {
      events: done.events + events,
      tooOld: done.tooOld + tooOld,
      missing: done.missing + missing,
      present: done.present + messages.length - missing,
      position,
    }
    onProgress(done)
  }
  return done
}

type BackfillSlice = {
  readonly events: number
  readonly tooOld: number
  readonly messages: readonly Outbound[]
  readonly position: LogPosition
}

/** Also without messages a slice comes now and then, so that there is progress to show. */
const sliceEvents = 500

async function* backfillSlices(
  store: EventStore,
  { from, notBefore, signal }: { from: LogPosition | undefined } & Pick<BackfillOptions, 'notBefore' | 'signal'>,
  map: (event: Recorded) => readonly Outbound[],
): AsyncGenerator<BackfillSlice> {
  let messages: Outbound[] = []
  let [events, tooOld, characters] = [0, 0, 0]
  let position: LogPosition | undefined
  for await (const event of store.readLog({ prefixes, from })) {
    if (signal.aborted) break
    const isTooOld = notBefore !== undefined && event.created < notBefore
    const mapped = isTooOld ? [] : map(event)
    messages.push(...mapped)
    events++
    if (isTooOld) tooOld++
    characters += mapped.reduce((sum, { body }) => sum + body.length, 0)
    position = event.position
    if (events < sliceEvents && messages.length < sliceMessages && characters < maxSliceCharacters) continue
    yield { events, tooOld, messages, position }
    messages = []
    ;[events, tooOld, characters] = [0, 0, 0]
  }
  if (events > 0 && position !== undefined) yield { events, tooOld, messages, position }
}
