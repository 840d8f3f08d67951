// The log: load a stream's state, decide, append. The only room that speaks to EventStoreDB.
import { setTimeout as sleep } from 'node:timers/promises'
import {
  BACKWARDS,
  END,
  EventStoreDBClient,
  FORWARDS,
  NO_STREAM,
  START,
  StreamNotFoundError,
} from '@eventstore/db-client'
import { DomainError } from '@paylog/domain/errors'
import type { DomainEvent, EventMetadata, Fold } from '@paylog/domain/messages'
import type { RecordedDomainEvent } from '@paylog/domain/recordedEvents'
import { v7 as uuidv7 } from 'uuid'
import { decode, encode, type LogPosition, type Recorded, UnreadableEventError } from './codec.ts'
import { appendFailure, withTimeout } from './failure.ts'
import type { StreamName } from './streamName.ts'

export type Revision = bigint | 'no_stream'

export type Loaded<State> = {
  readonly state: State
  readonly revision: Revision
  /** Of the stream's last event; absent for a stream that does not exist. */
  readonly position: LogPosition | undefined
}

export type Handled<State, Event> = Loaded<State> & {
  /** What this call appended; empty when it was already done. */ readonly events: readonly Event[]
}

export type Command<State, Event extends DomainEvent> = {
  readonly stream: StreamName
  readonly fold: Fold<State, Event>
  readonly decide: (state: State) => readonly Event[]
  readonly metadata: EventMetadata
}

export type EventStore = {
  /** For subscriptions; nothing else may talk to the client. */
  readonly client: EventStoreDBClient
  /**
   * Loads, folds, decides and appends, and decides again when another writer was faster.
   * @throws DomainError `event_store_unavailable` (the outcome is unknown), `concurrent_modification`, and what `decide` throws.
   */
  handle<State, Event extends RecordedDomainEvent>(command: Command<State, Event>): Promise<Handled<State, Event>>
  /**
   * A stream's state.
   * @param until the state as it was right after the first event of this type, instead of the present one
   * @throws DomainError `event_store_unavailable`
   */
  load<State, Event extends RecordedDomainEvent>(
    stream: StreamName,
    fold: Fold<State, Event>,
    until?: Event['type'],
  ): Promise<Loaded<State>>
  /** A stream's events in order; nothing for a stream that does not exist. */
  readStream(stream: StreamName, options?: { readonly from?: bigint; readonly limit?: number }): Promise<Recorded[]>
  /** The position of the last event in the log. */
  head(): Promise<LogPosition | undefined>
  close(): Promise<void>
}

/** One append waits this long; the client itself has no limit, and gives up its deadline only on an answer. */
const appendTimeoutMs = 6_000
/** An append without a clear answer is repeated, with the same ids, for this long. */
const appendPatienceMs = 15_000
const readTimeoutMs = 5_000
/** More conflicts than this in a row are not a race any more. */
const maxDecisions = 12

/** @param options.connectionString `esdb://…`; credentials belong into it, per-call ones switch to a slower call. */
export function createEventStore(options: { readonly connectionString: string }): EventStore {
  const client = EventStoreDBClient.connectionString(options.connectionString)

  async function append(
    stream: StreamName,
    expectedRevision: Revision,
    events: readonly RecordedDomainEvent[],
    ids: readonly string[],
    metadata: EventMetadata,
  ) {
    const encoded = events.map((event, index) => encode(event, idAt(ids, index), metadata))
    const giveUpAt = Date.now() + appendPatienceMs
    for (let pauseMs = 25; ; pauseMs = Math.min(pauseMs * 2, 1_000)) {
      try {
        const appending = client.appendToStream(stream, encoded, {
          expectedRevision: expectedRevision === 'no_stream' ? NO_STREAM : expectedRevision,
        })
        return await withTimeout(appending, appendTimeoutMs, `Append to ${stream}`)
      } catch (error) {
        const failure = appendFailure(error)
        if (failure === 'conflict') return 'conflict'
        if (failure === 'too_large')
          throw new DomainError('body_too_large', 'This is too large to be recorded', undefined, { cause: error })
        if (failure === 'refused' || Date.now() + pauseMs > giveUpAt) throw unavailable(error)
        await sleep(pauseMs)
      }
    }
  }

  async function readStream(stream: StreamName, { from, limit }: { from?: bigint; limit?: number } = {}) {
    const reading = client.readStream(stream, {
      direction: FORWARDS,
      fromRevision: from ?? START,
      ...(limit === undefined ? {} : { maxCount: limit }),
    })
    try {
      return await withTimeout(collect(reading), readTimeoutMs, `Read of ${stream}`)
    } catch (error) {
      await reading.cancel()
      if (error instanceof StreamNotFoundError) return []
      throw error instanceof UnreadableEventError ? error : unavailable(error)
    }
  }

  async function load<State, Event extends RecordedDomainEvent>(
    stream: StreamName,
    fold: Fold<State, Event>,
    until?: RecordedDomainEvent['type'],
  ) {
    const whole = await readStream(stream)
    const end = whole.findIndex(({ type }) => type === until)
    const events = end < 0 ? whole : whole.slice(0, end + 1)
    const last = events.at(-1)
    // A category's streams hold that category's events only, which the codec has read.
    const state = events.reduce(
      (folded, event) => fold.evolve(folded, event as Recorded as Event & Recorded),
      fold.initialState,
    )
    return { state, revision: last?.revision ?? ('no_stream' as const), position: last?.position }
  }

  return {
    client,
    load,
    readStream,
    async handle({ stream, fold, decide, metadata }) {
      const ids: string[] = []
      for (let decision = 1; decision <= maxDecisions; decision++) {
        const loaded = await load(stream, fold)
        const events = decide(loaded.state)
        if (events.length === 0) return { ...loaded, events }
        while (ids.length < events.length) ids.push(uuidv7())
        const appended = await append(stream, loaded.revision, events, ids, metadata)
        if (appended === 'conflict') continue
        const state = events.reduce(fold.evolve, loaded.state)
        const position = appended.position ?? (await load(stream, fold)).position
        return { state, revision: appended.nextExpectedRevision, position, events }
      }
      throw new DomainError('concurrent_modification', 'Too many others are changing this at the same time; try again')
    },
    async head() {
      const reading = client.readAll({ direction: BACKWARDS, fromPosition: END, maxCount: 1 })
      try {
        for await (const { event } of reading) if (event) return event.position
        return undefined
      } catch (error) {
        throw unavailable(error)
      } finally {
        await reading.cancel()
      }
    },
    close: () => client.dispose(),
  }
}

async function collect(reading: ReturnType<EventStoreDBClient['readStream']>): Promise<Recorded[]> {
  const events: Recorded[] = []
  for await (const { event } of reading) {
    if (event) events.push(decode(event, event.position ?? nowhere))
  }
  return events
}

/** What stands for the position of an event whose server does not say it. */
const nowhere: LogPosition = { commit: 0n, prepare: 0n }

function idAt(ids: readonly string[], index: number): string {
  const id = ids[index]
  if (id === undefined) throw new Error(`No id for event ${index}`)
  return id
}

function unavailable(cause: unknown): DomainError {
  return new DomainError(
    'event_store_unavailable',
    'The event store did not confirm this; it may or may not be recorded',
    undefined,
    { cause },
  )
}
