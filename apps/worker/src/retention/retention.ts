// Ends the retention of provider bodies and client secrets: destroys the keys of the days that are no longer kept.
import { setTimeout as sleep } from 'node:timers/promises'
import { derivedId } from '@paylog/domain/derivedId'
import { type ErasureEvent, erasureFold } from '@paylog/domain/erasures'
import { paymentFold } from '@paylog/domain/payments/fold'
import { isAbsorbing } from '@paylog/domain/payments/payment'
import type { EventStore } from '@paylog/event-store/eventStore'
import { erasureStream } from '@paylog/event-store/streamName'
import { type BucketKind, expiredBuckets } from '@paylog/privacy/buckets'
import type { PersonalDataKeys } from '@paylog/privacy/dataKeys'
import { holdLock } from '@paylog/runtime/postgres/lock'
import type { Logger } from '@paylog/runtime/telemetry/log'
import { followUpsSubscription, readCheckpoint } from '@paylog/webhooks/deliveries/subscriptions/checkpoint'
import { streamPrefixes } from '@paylog/webhooks/deliveries/subscriptions/exclusiveSubscription'
import type { Pool } from 'pg'
import type { TrustedClock } from '../trustedClock.ts'

/** How long each kind is kept, in ms; 0 keeps it for ever. */
export type RetentionRules = {
  readonly bodiesMs: number
  /** `end`: until the payments have ended. */
  readonly secrets: number | 'end'
}

type Bucket = { readonly id: string; readonly day: string }

const dayMs = 86_400_000
/** Secrets that belong to no payment, those of setup intents, are kept for this long after their day. */
const unfollowedMs = 2 * dayMs
/** While the list of open secrets is further behind the log, nothing is decided by it. */
const maxBehindMs = dayMs

export type RetentionDependencies = {
  readonly pool: Pool
  readonly store: EventStore
  readonly keys: Pick<PersonalDataKeys, 'destroy'>
  readonly rules: RetentionRules
  readonly clock: Pick<TrustedClock, 'agrees'>
  readonly now: () => Date
  readonly log: Pick<Logger, 'info' | 'warn'>
}

/**
 * Destroys the keys of the days whose retention is over. Records first which ones, so that whatever was derived from their data is
 * emptied as well. An interrupted call is completed by the next one, or by the worker's subscription.
 * @returns false when nothing was destroyed because the local clock differs from others
 * @throws DomainError `event_store_unavailable`; errors of Postgres
 */
export async function applyRetention(deps: RetentionDependencies): Promise<boolean> {
  const { pool, rules, now } = deps
  const olderThan = (kind: BucketKind, ageMs: number) =>
    expiredBuckets(pool, kind, new Date(now().getTime() - ageMs).toISOString().slice(0, 10))
  const bodies = rules.bodiesMs > 0 ? await olderThan('body', rules.bodiesMs) : []
  const secretsMs = rules.secrets === 'end' ? unfollowedMs : rules.secrets
  const old = secretsMs > 0 ? await olderThan('secret', secretsMs) : []
  const secrets = rules.secrets === 'end' ? await withoutOpenPayments(deps, old) : old
  if (bodies.length + secrets.length === 0) return true
  if (!(await deps.clock.agrees())) return false
  await destroyBuckets(deps, 'body', bodies)
  await destroyBuckets(deps, 'secret', secrets)
  return true
}

/** @param buckets the oldest first */
async function destroyBuckets(
  { store, keys, now, log }: RetentionDependencies,
  kept: BucketKind,
  buckets: readonly Bucket[],
): Promise<void> {
  const last = buckets.at(-1)
  if (last === undefined) return
  const key_ids = buckets.map(({ id }) => id)
  // The same after a crash, so that the erasure is recorded once.
  const erasure_id = derivedId('retention', kept, ...key_ids)
  const data = { erasure_id, occurred_at: now().toISOString(), key_ids, kept, until_day: last.day }
  await store.handle({
    stream: erasureStream(erasure_id),
    fold: erasureFold,
    decide: (isRecorded): readonly ErasureEvent[] => (isRecorded ? [] : [{ type: 'RetentionApplied', data }]),
    metadata: { correlationId: erasure_id, causationId: erasure_id, actor: 'worker' },
  })
  await keys.destroy(key_ids)
  log.info({ kept, days: buckets.map(({ day }) => day), erasure_id }, 'the retention of these days is over')
}

/** The buckets of which no open payment has a client secret. */
async function withoutOpenPayments(
  deps: RetentionDependencies,
  buckets: readonly Bucket[],
): Promise<readonly Bucket[]> {
  if (buckets.length === 0) return []
  if (!(await isListCurrent(deps))) {
    deps.log.warn('the list of open payments is behind the log: client secrets are kept until it has caught up')
    return []
  }
  const ended: Bucket[] = []
  for (const bucket of buckets) if (!(await hasOpenPayment(deps, bucket))) ended.push(bucket)
  return ended
}

/** Whether the list of open secrets contains everything up to a day ago. */
async function isListCurrent({ pool, store, now }: RetentionDependencies): Promise<boolean> {
  const { first, isMore } = await store.lag(await readCheckpoint(pool, followUpsSubscription), streamPrefixes, {
    maxEvents: 1,
  })
  return first === undefined ? !isMore : now().getTime() - first.created.getTime() < maxBehindMs
}

/**
 * The list may name a payment that has ended, when the end was recorded before the outcome of its create call. So the log decides, and
 * one open payment is enough.
 */
async function hasOpenPayment({ pool, store }: RetentionDependencies, { id }: Bucket): Promise<boolean> {
  for (;;) {
    const { rows } = await pool.query<{ subject: string }>(
      'select subject from webhooks.open_secrets where key_id = $1 order by subject limit 1',
      [id],
    )
    const [row] = rows
    if (row === undefined) return false
    const { state } = await store.load(row.subject, paymentFold)
    if (state.status !== 'none' && !isAbsorbing(state.status)) return true
    await pool.query('delete from webhooks.open_secrets where subject = $1 and key_id = $2', [row.subject, id])
  }
}

const lockName = 'retention'
const defaultTiming = {
  /** Other work comes first after a start. */
  firstAfterMs: 5 * 60_000,
  everyMs: dayMs,
  retryAfterMs: 10 * 60_000,
  /** While the local clock differs from others. */
  compareAfterMs: 20_000,
}

/**
 * Applies the retention some minutes after the start and then daily, in one process at a time, until the signal aborts.
 * @param deps `timing` for tests
 */
export async function runRetention(
  deps: RetentionDependencies & {
    readonly databaseUrl: string
    readonly signal: AbortSignal
    readonly log: Logger
    readonly timing?: typeof defaultTiming
  },
): Promise<void> {
  const { databaseUrl, signal, log, timing = defaultTiming } = deps
  let pauseMs = timing.firstAfterMs
  for (;;) {
    await sleep(pauseMs, undefined, { signal }).catch(() => undefined)
    if (signal.aborted) return
    pauseMs = timing.everyMs
    try {
      const lock = await holdLock({ databaseUrl, name: lockName, signal, log })
      if (!(await applyRetention(deps).finally(() => lock.release()))) pauseMs = timing.compareAfterMs
    } catch (error) {
      if (signal.aborted) return
      log.warn({ err: error }, 'could not apply the retention, trying again')
      pauseMs = timing.retryAfterMs
    }
  }
}
