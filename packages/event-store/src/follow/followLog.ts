// Follows the log from a checkpoint: reads page after page, and from its end on takes new events from a subscription.

import { setTimeout as sleep } from 'node:timers/promises'
import { DomainError } from '@paylog/domain/errors'
import { isAfter, type LogCheckpoint } from '@paylog/domain/events'
import { anySignal } from '@paylog/runtime/anySignal'
import { type Recorded, UnreadableEventError } from '../codec/codec.ts'
import type { NeededParts } from '../codec/decoder.ts'
import type { CallContext } from '../connection/calls.ts'
import type { RawEvent } from '../read/rawEvent.ts'
import { type Batching, type EventBatch, readToEnd } from '../read/readBatches.ts'
import { findCheckpoint, type LogEnds, readLogEnds } from '../read/reads.ts'
import type { LogFilter } from '../read/requests.ts'
import type { NewEvents } from './newEvents.ts'

/** The part of a logger that a follower needs. */
export type FollowerLog = {
  warn(detail: object, message: string): void
  debug(detail: object, message: string): void
}

/** What a follower needs of the event store. */
export type FollowSource = {
  readonly context: CallContext
  readonly newEvents: NewEvents
  /** Reads the ends of the log, once for callers of the same moment. */
  readonly sharedEnds: () => Promise<LogEnds>
  readonly pollMs: number
}

export type FollowOptions = FollowerOptions<Recorded> & {
  readonly streamPrefixes: readonly string[]
  /** See `Decoder`. */
  readonly opens?: NeededParts
}

export type FollowerOptions<Event> = {
  readonly name: string
  /** The stored checkpoint (exclusive start); undefined for the start of the log. */
  readonly start: () => Promise<LogCheckpoint | undefined>
  /** Handles a batch and stores its checkpoint. An error is treated as transient: the batch is delivered again. */
  readonly handle: (batch: EventBatch<Event>) => Promise<void>
  /** Events per batch, which are full while the follower is behind the end of the log. */
  readonly maxBatch: number
  /** Emits `awaited` when a caller waits for the checkpoint to reach the end of the log. */
  readonly awaited?: EventTarget
  /** Called with true when the log can be read and new events are announced, and with false when it cannot be read. */
  readonly connected?: (isConnected: boolean) => void
  readonly signal: AbortSignal
  readonly log: FollowerLog
}

/** Which events a follower gets, and how they are decoded. */
export type Selection<Event> = { readonly filter: LogFilter; readonly batching: Batching<Event> }

/**
 * The log is not the one that the checkpoint belongs to: it was cut, restored from a backup or replaced. To go on would skip
 * events or handle them twice, so an operator has to decide.
 */
export class LogMismatchError extends Error {
  override readonly name = 'LogMismatchError'
}

const firstPauseMs = 100
const maxPauseMs = 5_000

/**
 * Runs until the signal aborts or the store is closed. After a failed read or a handler error it starts again from `start()`,
 * after a pause that grows to 5 s.
 *
 * The log is compared with the checkpoint at the start, after every interruption of the connection, and whenever the
 * follower looks at the end of the log. Only what it finds twice, on two connections, counts as another log.
 * @throws LogMismatchError; UnreadableEventError when the log holds an event that the codec cannot read: skipping it would
 *   corrupt state
 */
export async function followLog<Event>(
  source: FollowSource,
  options: FollowerOptions<Event>,
  selection: Selection<Event>,
): Promise<void> {
  const { name, connected, log } = options
  const signal = anySignal(options.signal, source.context.closing)
  let pauseMs = firstPauseMs
  const progressed = () => {
    pauseMs = firstPauseMs
  }
  while (!signal.aborted) {
    try {
      await followOnce(source, { ...options, ...selection, signal }, progressed)
    } catch (error) {
      connected?.(false)
      if (signal.aborted) return
      if (error instanceof UnreadableEventError || error instanceof LogMismatchError) throw error
      // An outage of the event store is reported once, for all followers.
      const isOutage = error instanceof DomainError && error.code === 'event_store_unavailable'
      const level = isOutage ? 'debug' : 'warn'
      log[level]({ err: error, subscription: name, pauseMs }, 'interrupted, resuming from the last checkpoint')
      await sleep(pauseMs, undefined, { signal }).catch(() => {})
      // What failed has waited for the event store, so it goes on as soon as that is back.
      if (!isOutage) pauseMs = Math.min(pauseMs * 2, maxPauseMs)
    }
  }
  connected?.(false)
}

async function followOnce<Event>(
  source: FollowSource,
  options: FollowerOptions<Event> & Selection<Event>,
  progressed: () => void,
): Promise<void> {
  const { filter, batching, maxBatch, start, signal } = options
  // A stop also ends reads in progress.
  const context = { ...source.context, closing: signal }
  const waiting = createWaiting(options, source.newEvents)
  try {
    let checkpoint = await start()
    const handle = async (batch: EventBatch<Event>) => {
      await options.handle(batch)
      checkpoint = batch.position
      progressed()
    }
    for (let reason: WaitReason = 'connected'; !signal.aborted; reason = await waiting.next(source.pollMs)) {
      if (reason === 'event') {
        const events = laterThan(checkpoint, waiting.take(maxBatch))
        for await (const batch of batching(events)) await handle(batch)
        continue
      }
      if (reason === 'connected') await requireSameLog(context, checkpoint)
      // Read first, so that everything up to there is in the pages.
      const ends = await readEnds(context, reason === 'poll' ? source.sharedEnds : undefined, checkpoint)
      if (source.newEvents.isConfirmed()) options.connected?.(true)
      if (isBehind(checkpoint, ends.end?.position)) {
        for await (const batch of readToEnd(context, { filter, after: checkpoint, maxEvents: maxBatch }, batching)) {
          if (signal.aborted) return
          // It may have been read after a restart, from another log.
          if (waiting.isInterrupted()) break
          if (reason === 'poll' && batch.events.length > 0) source.newEvents.replace()
          await handle(batch)
        }
      }
      if (waiting.isInterrupted()) continue
      if (ends.checkpoint !== undefined && isBehind(checkpoint, ends.checkpoint))
        await handle({ events: [], position: ends.checkpoint })
      progressed()
    }
  } finally {
    waiting.end()
  }
}

/** @throws LogMismatchError when the log has no such event */
async function requireSameLog(context: CallContext, checkpoint: LogCheckpoint | undefined): Promise<void> {
  if (checkpoint === undefined) return
  const found = await findCheckpoint(context, checkpoint)
  if (found?.id === checkpoint.eventId) return
  const fact = found === undefined ? 'has no event there' : `has the event ${found.id} there`
  throw mismatch(checkpoint, fact)
}

/** @throws LogMismatchError when the log ends before the checkpoint */
async function readEnds(
  context: CallContext,
  read: () => Promise<LogEnds> = () => readLogEnds(context),
  checkpoint: LogCheckpoint | undefined,
): Promise<LogEnds> {
  const isBefore = ({ end }: LogEnds) =>
    checkpoint !== undefined && (end === undefined || isAfter(checkpoint, end.position))
  const ends = await read()
  if (!isBefore(ends)) return ends
  await requireSameLog(context, checkpoint)
  const later = await readLogEnds(context)
  if (checkpoint !== undefined && isBefore(later))
    throw mismatch(checkpoint, `ends at ${later.end?.position.commit ?? 'its beginning'}`)
  return later
}

const isBehind = (checkpoint: LogCheckpoint | undefined, end: LogCheckpoint | undefined) =>
  end !== undefined && (checkpoint === undefined || isAfter(end, checkpoint))

/** Each event once: an announced one may have been read before, or be announced again. */
function laterThan(checkpoint: LogCheckpoint | undefined, events: readonly RawEvent[]): readonly RawEvent[] {
  let last = checkpoint
  return events.filter(({ position }) => {
    const isNew = isBehind(last, position)
    if (isNew) last = position
    return isNew
  })
}

const mismatch = ({ commit, eventId }: LogCheckpoint, fact: string) =>
  new LogMismatchError(
    `The checkpoint is the event ${eventId} at position ${commit}, but the log ${fact}: it was cut, restored or replaced`,
  )

/**
 * Why a follower goes on. `behind`: too many new events were waiting, so the log is read. `connected`: the subscription started
 * or was interrupted, so the log is compared and read. A later reason replaces an earlier one that it includes.
 */
type WaitReason = 'event' | 'poll' | 'awaited' | 'behind' | 'connected'
const strength: Readonly<Record<WaitReason, number>> = { event: 0, poll: 1, awaited: 2, behind: 3, connected: 4 }

/** A follower that is slower than the log reads it in pages again. */
const maxWaitingBytes = 8 << 20

/** Collects new events, and the reasons to read the log, also while a batch is handled. */
function createWaiting(
  { filter, maxBatch, awaited, signal }: FollowerOptions<never> & Pick<Selection<never>, 'filter'>,
  newEvents: NewEvents,
) {
  let events: RawEvent[] = []
  let bytes = 0
  let pending: WaitReason | undefined
  let wake = () => {}
  const add = (reason: WaitReason) => {
    if (pending === undefined || strength[reason] > strength[pending]) pending = reason
    wake()
  }
  const clear = () => {
    events = []
    bytes = 0
  }
  const remove = newEvents.add({
    filter,
    onConnection: () => add('connected'),
    onEvent(event) {
      // The log is read in any case, up to this event or beyond.
      if (pending === 'connected' || pending === 'behind') return
      events.push(event)
      bytes += event.data.length + event.metadata.length
      if (events.length <= maxBatch * 2 && bytes <= maxWaitingBytes) return add('event')
      clear()
      add('behind')
    },
  })
  const onAwaited = () => add('awaited')
  awaited?.addEventListener('awaited', onAwaited)
  return {
    /** Waits for a reason to go on. */
    async next(pollMs: number): Promise<WaitReason> {
      if (pending === undefined && events.length > 0) return 'event'
      if (pending === undefined && !signal.aborted) {
        const { promise, resolve } = Promise.withResolvers<void>()
        // At the same moments as others, so that one read of the end serves all followers of a process.
        const timer = setTimeout(() => add('poll'), pollMs - (Date.now() % pollMs))
        wake = resolve
        signal.addEventListener('abort', wake)
        await promise
        signal.removeEventListener('abort', wake)
        clearTimeout(timer)
        wake = () => {}
      }
      const reason = pending ?? 'poll'
      pending = undefined
      // What is delivered from now on comes after what is read now.
      if (reason === 'connected' || reason === 'behind') clear()
      return reason
    },
    isInterrupted: () => pending === 'connected',
    /** The first of the new events. */
    take(count: number): readonly RawEvent[] {
      const taken = events.slice(0, count)
      events = events.slice(count)
      bytes = 0
      for (const { data, metadata } of events) bytes += data.length + metadata.length
      return taken
    },
    end() {
      remove()
      awaited?.removeEventListener('awaited', onAwaited)
    },
  }
}
