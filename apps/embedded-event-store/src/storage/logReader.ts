// All queries that read the log. Pages are bounded in rows and bytes.
import type pg from 'pg'
import { bigintArray, textArray, uuidArray } from './binaryArray.ts'
import type { EventPlace, StoredEvent } from './storedEvent.ts'
import { absentHead, headAfter, type StreamHead } from './streamHead.ts'

/** A pool or a client. */
export type Queryable = Pick<pg.Pool, 'query'>

export const pageRows = 512
/** A page ends early at this size, so that memory does not depend on event sizes. */
const pageBytes = 1 << 20

export type Page = { readonly events: readonly StoredEvent[]; readonly end: boolean }

type EventRow = [bigint, string, bigint, string, string, boolean, bigint, Buffer, Buffer]

const columns = 'position, stream, revision, event_id, type, is_json, created_ticks, metadata, data'
const size = '(octet_length(metadata) + octet_length(data))'

/** Rows of `source` in `order` up to the byte budget, and at least one. */
function paged(source: string, order: string): string {
  return `select ${columns} from (
    select ${columns}, sum(${size}) over (order by ${order}) - ${size} as bytes_before from (${source}) found
  ) page where bytes_before < ${pageBytes} order by ${order}`
}

const allForwards = paged(
  'select * from event_store.events where position >= $1 order by position limit $2',
  'position',
)
const allBackwards = paged(
  'select * from event_store.events where position < $1 order by position desc limit $2',
  'position desc',
)
const streamForwards = paged(
  `select * from event_store.events where stream = $1 and revision between $2 and $3 and created_ticks >= $4
   order by revision limit $5`,
  'revision',
)
const streamBackwards = paged(
  `select * from event_store.events where stream = $1 and revision between $2 and $3 and created_ticks >= $4
   order by revision desc limit $5`,
  'revision desc',
)

const headsOf = `select requested.stream, head.revision, head.is_json, head.data
  from unnest($1::text[]) requested(stream)
  cross join lateral (
    select revision, is_json, case when starts_with(requested.stream, '$$') then data end as data
    from event_store.events where stream = requested.stream order by revision desc limit 1
  ) head`

/** Several events may have the same id; the first one in the whole log counts. */
const placesById = `select requested.ordinal, event.stream, event.revision, event.position, event.event_id, event.created_ticks
  from unnest($1::uuid[]) with ordinality requested(event_id, ordinal)
  cross join lateral (
    select * from event_store.events where event_id = requested.event_id order by position limit 1
  ) event`

const placesByRevision = `select requested.ordinal, event.stream, event.revision, event.position, event.event_id, event.created_ticks
  from unnest($1::text[], $2::bigint[]) with ordinality requested(stream, revision, ordinal)
  join event_store.events event on event.stream = requested.stream and event.revision = requested.revision`

const eventsAt = `select ${columns.replaceAll(/\w+/g, 'event.$&')}
  from unnest($1::text[], $2::bigint[]) requested(stream, revision)
  join event_store.events event on event.stream = requested.stream and event.revision = requested.revision`

/** Events with a position of `from` or more. */
export function readAllForwards(db: Queryable, from: bigint, limit: number): Promise<Page> {
  return readPage(db, 'all_forwards', allForwards, [from], limit)
}

/** Events before the position `before`, latest first. */
export function readAllBackwards(db: Queryable, before: bigint, limit: number): Promise<Page> {
  return readPage(db, 'all_backwards', allBackwards, [before], limit)
}

export type StreamRange = {
  readonly stream: string
  readonly first: bigint
  readonly last: bigint
  readonly oldestTicks: bigint
}

export function readStreamForwards(db: Queryable, range: StreamRange, limit: number): Promise<Page> {
  return readPage(db, 'stream_forwards', streamForwards, rangeValues(range), limit)
}

export function readStreamBackwards(db: Queryable, range: StreamRange, limit: number): Promise<Page> {
  return readPage(db, 'stream_backwards', streamBackwards, rangeValues(range), limit)
}

function rangeValues(range: StreamRange): unknown[] {
  return [range.stream, range.first, range.last, range.oldestTicks]
}

async function readPage(db: Queryable, name: string, text: string, values: unknown[], limit: number): Promise<Page> {
  const { rows } = await db.query<EventRow>({ name, text, values: [...values, limit], rowMode: 'array' })
  const events = rows.map(eventOf)
  const bytes = events.reduce((sum, event) => sum + event.metadata.length + event.data.length, 0)
  return { events, end: events.length < limit && bytes < pageBytes }
}

function eventOf(row: EventRow): StoredEvent {
  const [position, stream, revision, eventId, type, isJson, createdTicks, metadata, data] = row
  return { position, stream, revision, eventId, type, isJson, createdTicks, metadata, data }
}

/** The heads of the streams, absent ones included. */
export async function readHeads(db: Queryable, streams: readonly string[]): Promise<Map<string, StreamHead>> {
  const heads = new Map<string, StreamHead>(streams.map((stream) => [stream, absentHead]))
  const { rows } = await db.query<[string, bigint, boolean, Buffer | null]>({
    name: 'heads',
    text: headsOf,
    values: [textArray(streams)],
    rowMode: 'array',
  })
  for (const [stream, revision, isJson, data] of rows) {
    heads.set(stream, headAfter({ stream, revision, isJson, data }))
  }
  return heads
}

type PlaceRow = [bigint, string, bigint, bigint, string, bigint]

/** The first occurrence of each id in the log, in the given order; undefined if there is none. */
export async function readPlacesById(db: Queryable, eventIds: readonly string[]): Promise<(EventPlace | undefined)[]> {
  const { rows } = await db.query<PlaceRow>({
    name: 'places_by_id',
    text: placesById,
    values: [uuidArray(eventIds)],
    rowMode: 'array',
  })
  return placesInOrder(rows, eventIds.length)
}

/** The event at each revision, in the given order; undefined if there is none. */
export async function readPlacesByRevision(
  db: Queryable,
  requested: readonly { readonly stream: string; readonly revision: bigint }[],
): Promise<(EventPlace | undefined)[]> {
  const values = [textArray(requested.map((each) => each.stream)), bigintArray(requested.map((each) => each.revision))]
  const { rows } = await db.query<PlaceRow>({
    name: 'places_by_revision',
    text: placesByRevision,
    values,
    rowMode: 'array',
  })
  return placesInOrder(rows, requested.length)
}

function placesInOrder(rows: readonly PlaceRow[], count: number): (EventPlace | undefined)[] {
  const places = new Array<EventPlace | undefined>(count).fill(undefined)
  for (const [ordinal, stream, revision, position, eventId, createdTicks] of rows) {
    places[Number(ordinal) - 1] = { stream, revision, position, eventId, createdTicks }
  }
  return places
}

/** Events by stream and revision, unordered; missing ones are left out. */
export async function readEventsAt(
  db: Queryable,
  requested: readonly { readonly stream: string; readonly revision: bigint }[],
): Promise<StoredEvent[]> {
  const values = [textArray(requested.map((each) => each.stream)), bigintArray(requested.map((each) => each.revision))]
  const { rows } = await db.query<EventRow>({ name: 'events_at', text: eventsAt, values, rowMode: 'array' })
  return rows.map(eventOf)
}
