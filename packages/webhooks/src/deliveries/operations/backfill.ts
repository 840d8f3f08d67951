// Creates deliveries from the log that an endpoint never got, with the ids that the worker would give them.
import type { LogPosition } from '@paylog/domain/events'
import type { Recorded } from '@paylog/event-store/codec/codec'
import type { EventStore } from '@paylog/event-store/eventStore'
import { inTransaction } from '@paylog/runtime/postgres/transaction'
import type { Pool } from 'pg'
import type { WebhookEndpoint } from '../../endpoints/endpoints.ts'
import type { Projects } from '../../messages/canonical.ts'
import { type Outbound, outboundMessages } from '../../messages/outbound.ts'
import { type MessageSlice, slicesOf } from '../dispatch/dispatcher.ts'
import { createErasedBodies } from '../send/bodies.ts'
import { streamPrefixes } from '../subscriptions/exclusiveSubscription.ts'
import { firstDay, insertNewSql, isMissing, newRows } from '../tables/recordDeliveries.ts'

export type BackfillOptions = {
  readonly endpoint: WebhookEndpoint
  readonly projects: Projects
  /** Position of the first event; `undefined` starts at the beginning of the log. */
  readonly from: LogPosition | undefined
  /** Skips older events: retention would have removed their deliveries, and they would be sent again. */
  readonly notBefore: Date | undefined
  readonly isDryRun: boolean
  readonly now: () => Date
  /** Stops reading events when it aborts. */
  readonly signal: AbortSignal
  readonly onProgress: (done: BackfillResult) => void
}

export type BackfillResult = {
  readonly events: number
  /** Events skipped because of their age. */
  readonly tooOld: number
  /** Deliveries created, or to be created in a dry run. */
  readonly missing: number
  /** Deliveries that already exist. */
  readonly present: number
  /** Position of the last handled event. */
  readonly position: LogPosition | undefined
}

/** Webhook tests are sent once, and never again. */
const prefixes = streamPrefixes.filter((prefix) => prefix !== 'webhookTest-')
/**
 * Maps the log for one endpoint with the current configuration and creates the missing deliveries. Existing ones stay as
 * they are, so it can be stopped at any time and run again.
 * @returns the totals up to the end that the log had at the start
 * @throws UnreadableEventError, DomainError `event_store_unavailable`, database errors
 */
export async function backfill(
  {
    pool,
    store,
  }: { readonly pool: Pool; readonly store: Pick<EventStore, 'checkpointBefore' | 'readBatches' | 'readRawPage'> },
  options: BackfillOptions,
): Promise<BackfillResult> {
  const { endpoint, projects, notBefore, isDryRun, now, signal, onProgress } = options
  const buildErased = createErasedBodies({ store, projects })
  const build = (message: Outbound) => buildErased(endpoint, message)
  const from = options.from && (await store.checkpointBefore(options.from))
  const isTooOld = ({ created }: Recorded) => notBefore !== undefined && created < notBefore
  const map = (event: Recorded) => (isTooOld(event) ? [] : outboundMessages(event, [endpoint], projects))
  let done: BackfillResult = { events: 0, tooOld: 0, missing: 0, present: 0, position: undefined }
  for await (const batch of store.readBatches({ prefixes, from }))
    for (const slice of slicesOf(batch, map)) {
      if (signal.aborted) return done
      const { missing, present } = await (isDryRun
        ? countMissing(pool, slice, build)
        : insertMissing(pool, slice, { build, at: now() }))
      done = {
        events: done.events + slice.events.length,
        tooOld: done.tooOld + slice.events.filter(isTooOld).length,
        missing: done.missing + missing,
        present: done.present + present,
        position: slice.events.at(-1)?.position ?? done.position,
      }
      onProgress(done)
    }
  return done
}

/** @returns undefined when nothing is left of a message whose personal data was erased */
type BuildBody = (message: Outbound) => Promise<string | undefined>

type MessageCounts = Pick<BackfillResult, 'missing' | 'present'>

/**
 * Inserts the deliveries that are missing. The worker, and other backfills, insert nothing meanwhile. Otherwise it could insert
 * and finish a delivery while this statement, with an older snapshot, inserts it too.
 */
function insertMissing(
  pool: Pool,
  { messages, since }: MessageSlice,
  { build, at }: { readonly build: BuildBody; readonly at: Date },
): Promise<MessageCounts> {
  const text = insertNewSql({ rows: '$1', at: '$2::timestamptz', worker: 'null' }, firstDay(since))
  return inTransaction(pool, async (client) => {
    // A worker waits for this lock before it takes its snapshot, or destroys a key.
    await client.query('lock table webhooks.checkpoints in share row exclusive mode')
    const left = await withoutErased(client, messages, build)
    const { rowCount } = await client.query({ text, values: [newRows(left), at] })
    const missing = rowCount ?? 0
    return { missing, present: left.length - missing }
  })
}

async function countMissing(pool: Pool, { messages, since }: MessageSlice, build: BuildBody): Promise<MessageCounts> {
  const left = await withoutErased(pool, messages, build)
  const { rows } = await pool.query<{ missing: number }>(
    `select count(*)::int as missing from unnest($1::uuid[]) as m (id) where ${isMissing('m.id', firstDay(since))}`,
    [left.map(({ id }) => id)],
  )
  const missing = rows[0]?.missing ?? 0
  return { missing, present: left.length - missing }
}

/** The messages without what was erased since their events were read, or is still known to this process. */
async function withoutErased(
  db: Pick<Pool, 'query'>,
  messages: readonly Outbound[],
  build: BuildBody,
): Promise<readonly Outbound[]> {
  const keyIds = [...new Set(messages.flatMap(({ key_ids }) => key_ids))]
  const { rows } = await db.query<{ id: string }>('select id from webhooks.erased_keys where id = any($1::uuid[])', [
    keyIds,
  ])
  const erased = new Set(rows.map(({ id }) => id))
  const found: Outbound[] = []
  for (const message of messages) {
    const isErased = message.key_ids.some((id) => erased.has(id))
    const body = isErased ? await build(message) : message.body
    if (body !== undefined) found.push(isErased ? { ...message, body, key_ids: [] } : message)
  }
  return found
}
