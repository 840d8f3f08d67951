// The event store: load a stream's state, decide, append. No other package talks to EventStoreDB.
import { setTimeout as sleep } from 'node:timers/promises'
import type { EventStoreDBClient } from '@eventstore/db-client'
import type { KeyedHash } from '@paylog/domain/actor'
import { DomainError } from '@paylog/domain/errors'
import type { DomainEvent, EventMetadata, Fold, LogCheckpoint, LogPosition } from '@paylog/domain/events'
import type { Subject } from '@paylog/domain/personalData'
import type { RecordedDomainEvent } from '@paylog/domain/recordedEvents'
import { type AppendOutcome, appendWithRetries, type Revision, withAppendSpan } from './append/append.ts'
import { createDecisionEncoding } from './append/decisionEncoding.ts'
import { type Codec, domainCodec, type Recorded } from './codec/codec.ts'
import type { DataKeys } from './codec/dataKeys.ts'
import { createDecoder, type Decoder, requireReadable } from './codec/decoder.ts'
import { keyCalls, type OwnerKeys, ownersOf } from './codec/partKeys.ts'
import type { CallContext } from './connection/calls.ts'
import { type ConnectionContext, createConnections } from './connection/connection.ts'
import { unreadableLogError } from './connection/errors.ts'
import type { StoreLog } from './connection/outages.ts'
import { asOneRequest } from './connection/waiting.ts'
import { readExportPage } from './export/exportPage.ts'
import type { ExportPage, ExportPageRequest } from './export/exportPages.ts'
import { type FollowerOptions, type FollowOptions, type FollowSource, followLog } from './follow/followLog.ts'
import { type Lag, type LagLimits, measureLag } from './follow/lag.ts'
import { createNewEvents } from './follow/newEvents.ts'
import type { RawEvent } from './read/rawEvent.ts'
import {
  type Batching,
  type BatchRange,
  decodedBatch,
  type EventBatch,
  type LogRange,
  rawBatch,
  readBatches,
} from './read/readBatches.ts'
import { type RawPage, readPagesBackwards } from './read/readPage.ts'
import {
  isInLog,
  type ReadRange,
  readCheckpointBefore,
  readLogEnd,
  readStreamEvents,
  readStreamPage,
  sharedLogEnds,
} from './read/reads.ts'
import { categoryOf, type StreamName } from './streamName.ts'
import { defaultTiming, type EventStoreTiming } from './timing.ts'

export type LoadedState<State> = {
  readonly state: State
  readonly revision: Revision
  /** Position of the stream's last event; absent for a stream that does not exist. */
  readonly position: LogPosition | undefined
  /** The keys of those whose data the stream holds, if an event said it. */
  readonly owners?: OwnerKeys
}

export type HandledCommand<State, Event> = LoadedState<State> & {
  /** The events that this call appended; empty when there was nothing to do. */
  readonly events: readonly Event[]
  /** The id of the first of them, which the other ones name as their cause. */
  readonly firstEventId: string | undefined
}

/** The metadata of what follows from a command: its cause is what the command recorded, if anything. */
export function causedBy(
  { firstEventId }: Pick<HandledCommand<unknown, unknown>, 'firstEventId'>,
  metadata: EventMetadata,
): EventMetadata {
  return firstEventId === undefined ? metadata : { ...metadata, causationId: firstEventId }
}

export type StreamCommand<State, Event extends DomainEvent> = {
  readonly stream: StreamName
  readonly fold: Fold<State, Event>
  /** `revision` is the stream's revision that `state` was folded from. */
  readonly decide: (state: State, revision: Revision) => readonly Event[]
  readonly metadata: EventMetadata
  /** Whose personal data the events hold, where the fold does not say it. */
  readonly subject?: Subject | null
  /** Their keys, where another stream says it: what is recorded is without the data of those whose keys are destroyed. */
  readonly owners?: OwnerKeys
  /**
   * Assumed state, which saves reading the stream: the result of an earlier call, or `newStream`. If it is wrong, the
   * append conflicts, and `decide` runs again on the state that is loaded then.
   */
  readonly assumed?: LoadedState<State>
}

/** The assumed state of a stream that most likely does not exist yet. */
export function newStream<State>({ initialState }: Fold<State, never>): LoadedState<State> {
  return { state: initialState, revision: 'no_stream', position: undefined }
}

export type EventStore = {
  /** The client that currently serves reads, for calls that this package does not offer. */
  readonly client: EventStoreDBClient
  /** See `followLog`. */
  follow(options: FollowOptions): Promise<void>
  /** Like `follow`, for the events of all streams but the server's, as recorded: unreadable ones too. */
  followRaw(options: FollowerOptions<RawEvent>): Promise<void>
  /**
   * Loads, folds, decides and appends; decides again on a conflict with another writer.
   * @throws DomainError `event_store_unavailable` (the outcome is unknown; the same command may be repeated),
   *   `concurrent_modification`, and the errors of `decide`
   */
  handle<State, Event extends RecordedDomainEvent>(
    command: StreamCommand<State, Event>,
  ): Promise<HandledCommand<State, Event>>
  /**
   * A stream's state.
   * @param until returns the state right after the first event of this type instead of the current state
   * @throws DomainError `event_store_unavailable`
   */
  load<State, Event extends RecordedDomainEvent>(
    stream: StreamName,
    fold: Fold<State, Event>,
    until?: Event['type'],
  ): Promise<LoadedState<State>>
  /** Reads a stream's events in order; none for a stream that does not exist. */
  readStream(stream: StreamName, range?: ReadRange): Promise<readonly Recorded[]>
  /**
   * Reads the events of some streams in log order, up to the current end of the log.
   * @throws UnreadableEventError, DomainError `event_store_unavailable`
   */
  readLog(range: LogRange): AsyncGenerator<Recorded>
  /**
   * Like `readLog`, in batches that are full as long as there are more events. Everything up to a batch's position is in
   * it or an earlier one, and the last batch has the position where the read ends.
   * @throws UnreadableEventError, DomainError `event_store_unavailable`
   */
  readBatches(range: BatchRange): AsyncGenerator<EventBatch, void>
  /**
   * Counts the events after a position, or in the whole log, of streams with these prefixes. Unreadable events count too.
   * @param limits maximum count (default 10,000 events) and duration (default the read timeout)
   * @throws DomainError `event_store_unavailable`
   */
  lag(position: LogPosition | undefined, prefixes: readonly string[], limits?: LagLimits): Promise<Lag>
  /** Reads a bounded part of an export; see `readExportPage`. @throws DomainError `event_store_unavailable` */
  exportPage(request: ExportPageRequest): Promise<ExportPage>
  /**
   * A page of a stream's events as recorded, which ends early at a size of 8 MiB; empty for a stream that does not exist.
   * @throws DomainError `event_store_unavailable`
   */
  readRawPage(stream: StreamName, from: bigint, count: number): Promise<RawPage>
  /**
   * Destroys keys, as an erasure says. What they sealed is null in the events that are read from now on. May be repeated.
   * @throws when that is not possible at the moment
   */
  destroyKeys(ids: readonly string[]): Promise<void>
  /** Whether a key of these owners was destroyed: one of them was erased. @throws DomainError `service_unavailable` */
  areErased(owners: OwnerKeys): Promise<boolean>
  /** The id of the key of a stream that belongs to nobody; made if there is none. @throws DomainError `service_unavailable` */
  keyOf(stream: StreamName): Promise<string | undefined>
  /** The last event in the log, of any stream. */
  head(): Promise<LogCheckpoint | undefined>
  /** When it was recorded, by the event store's clock. */
  headTime(): Promise<Date | undefined>
  /**
   * A checkpoint at the last event before a position, or at the end of the log; undefined when there is none. System events do
   * not count. `readLog` from there starts with the event at the position, or the first one after it.
   */
  checkpointBefore(position: LogPosition | undefined): Promise<LogCheckpoint | undefined>
  /** The events of the log in reverse order, the server's too, page by page. @throws DomainError `event_store_unavailable` */
  readBackwards(): AsyncGenerator<readonly RawEvent[], void>
  /** Whether this is the log of the checkpoint: its event is at its position. */
  has(checkpoint: LogCheckpoint): Promise<boolean>
  /**
   * For ids and stream names that derive from personal data. The same in every process, and in hex.
   * @throws DomainError `service_unavailable`
   */
  readonly hash: KeyedHash
  /** Fails pending calls (a pending append may or may not be recorded) and ends the subscriptions. */
  close(): Promise<void>
}

/** Consecutive conflicts for this long fail the command: other writers are faster than it can decide. */
const conflictRetryTimeoutMs = 10_000
/** Upper bound of the random pause after a conflict, which keeps competing writers from retrying in step. */
const maxConflictPauseMs = 100

/**
 * @param options.connectionString `esdb://…`; credentials belong here, because per-call ones select a slower call
 * @param options.keys of the sealed parts of events
 * @param options.observe called with the outcome of each append
 * @param options.log gets a line for each outage and election
 * @param options.codec replaces the codec of this program version, in tests
 */
export function createEventStore(options: {
  readonly connectionString: string
  readonly keys: DataKeys
  readonly timing?: Partial<EventStoreTiming>
  readonly codec?: Codec
  readonly observe?: (end: AppendOutcome) => void
  readonly log?: StoreLog
}): EventStore {
  const { connectionString, keys, codec = domainCodec, observe, log } = options
  const timing = { ...defaultTiming, ...options.timing }
  const closed = new AbortController()
  const closing = closed.signal
  const { open, replaceable, outages } = createConnections({ connectionString, closing, log })
  const appends = { connection: replaceable(timing.appendTimeoutMs), timing, closing, outages }
  const reads: CallContext & Decoder = {
    connection: replaceable(timing.readTimeoutMs),
    outages,
    timeoutMs: timing.readTimeoutMs,
    retryTimeoutMs: () => timing.readRetryTimeoutMs,
    closing,
    failure: unreadableLogError,
    ...createDecoder(codec, keys),
  }
  const newEvents = createNewEvents({ open, closing })
  const following = { context: reads, newEvents, sharedEnds: sharedLogEnds(reads), pollMs: timing.pollMs }
  const encoding = createDecisionEncoding(codec, keys)
  const readStream = async (stream: StreamName, range: ReadRange = {}) =>
    requireReadable(await reads.decode(await readStreamEvents(reads, stream, range)))

  async function load<State, Event extends RecordedDomainEvent>(
    stream: StreamName,
    fold: Fold<State, Event>,
    until?: RecordedDomainEvent['type'],
  ): Promise<LoadedState<State>> {
    const whole = await readStream(stream)
    const end = whole.findIndex(({ type }) => type === until)
    const events = end < 0 ? whole : whole.slice(0, end + 1)
    const last = events.at(-1)
    // A stream only holds events of its category, and the codec has validated each of them.
    const state = events.reduce((folded, event) => fold.evolve(folded, event as Event & Recorded), fold.initialState)
    return { state, revision: last?.revision ?? 'no_stream', position: last?.position, owners: ownersOf(codec, events) }
  }

  return {
    get client() {
      return reads.connection.client
    },
    ...follows(following, reads),
    load: (stream, fold, until) => load(stream, fold, until),
    handle: (command) => asOneRequest(() => handle(command, { load, encoding, appends, observe })),
    readStream: (stream, range) => readStream(stream, range),
    async *readLog(range) {
      for await (const { events } of readBatches(reads, range)) yield* events
    },
    readBatches: (range) => readBatches(reads, range),
    ...keyCalls(keys),
    ...rawReads(reads),
    async close() {
      closed.abort(new Error('The event store was closed'))
      await Promise.all([appends.connection.close(), reads.connection.close()])
    },
  }
}

type HandleContext = {
  readonly load: EventStore['load']
  readonly encoding: ReturnType<typeof createDecisionEncoding>
  readonly appends: ConnectionContext
  readonly observe: ((end: AppendOutcome) => void) | undefined
}

/** See `EventStore.handle`. */
async function handle<State, Event extends RecordedDomainEvent>(
  command: StreamCommand<State, Event>,
  { load, encoding, appends, observe }: HandleContext,
): Promise<HandledCommand<State, Event>> {
  const { stream, fold, decide, metadata, assumed, subject, owners } = command
  const giveUpAt = performance.now() + conflictRetryTimeoutMs
  for (let decision = 1; performance.now() < giveUpAt; decision++) {
    const isAssumed = decision === 1 && assumed !== undefined
    const loaded = isAssumed ? assumed : await load(stream, fold)
    const decided = decide(loaded.state, loaded.revision)
    if (decided.length === 0 && isAssumed) continue
    if (decided.length === 0) return { ...loaded, events: decided, firstEventId: undefined }
    const { encoded, ...recorded } = await encoding({ stream, fold, before: loaded, decided, subject, owners })
    const appending = { category: categoryOf(stream), events: decided.length, metadata, observe }
    const result = await withAppendSpan(appending, (traced) =>
      appendWithRetries(appends, { stream, expected: loaded.revision, events: encoded(traced) }),
    )
    if (result === 'conflict') {
      if (decision > 1) await sleep(Math.random() * Math.min(2 ** decision, maxConflictPauseMs))
      continue
    }
    const position = result.position ?? (await load(stream, fold)).position
    return { ...recorded, revision: result.nextExpectedRevision, position }
  }
  throw new DomainError('concurrent_modification', 'Too many concurrent changes; try again')
}

function follows(source: FollowSource, decoder: Decoder): Pick<EventStore, 'follow' | 'followRaw'> {
  return {
    follow({ streamPrefixes, opens, ...options }) {
      const batching: Batching<Recorded> = (raw, end) => decodedBatch(decoder, raw, end, opens)
      return followLog(source, options, { filter: { streamPrefixes }, batching })
    },
    followRaw: (options) => followLog(source, options, { filter: 'own', batching: rawBatch }),
  }
}

/** Reads without decoding. */
function rawReads(
  reads: CallContext,
): Pick<
  EventStore,
  'lag' | 'exportPage' | 'readRawPage' | 'head' | 'headTime' | 'checkpointBefore' | 'readBackwards' | 'has'
> {
  return {
    lag: (position, prefixes, limits) => measureLag(reads, position, prefixes, limits),
    exportPage: (request) => readExportPage(reads, request),
    readRawPage: (stream, from, count) => readStreamPage(reads, stream, from, count),
    head: async () => (await readLogEnd(reads))?.position,
    headTime: async () => (await readLogEnd(reads))?.created,
    checkpointBefore: (position) => readCheckpointBefore(reads, position),
    readBackwards: () => readPagesBackwards(reads),
    has: (checkpoint) => isInLog(reads, checkpoint),
  }
}
