// Erasures: rows that hold values of destroyed keys are replaced by what their streams say without them, as a rebuild would.
import { type ErasureEvent, erasureEvents } from '@paylog/domain/erasures'
import { type DomainEvent, isAfter, type LogPosition } from '@paylog/domain/events'
import type { ClientBase } from 'pg'
import { keyIdsColumn, type ProjectedEvent, type Projection } from '../projection.ts'
import { tableName } from '../tables/tables.ts'
import { foldBatch } from './batch.ts'
import type { RowWriter } from './writers.ts'

/** What an erasure needs of the event store. */
export type ErasureSource = {
  /** What these keys sealed is null in what is read from now on. May be repeated. */
  destroyKeys(ids: readonly string[]): Promise<void>
  /** All events of a stream, in order. */
  readStream(stream: string): Promise<readonly (ProjectedEvent & { readonly position: LogPosition })[]>
}

/** The ids of the keys that are destroyed. */
export type ErasedKeys = {
  readonly all: readonly string[]
  /** Those of persons. */
  readonly persons: readonly string[]
  /** Those of client secrets. */
  readonly secrets: readonly string[]
}

/** What a batch erases; undefined when there is no erasure in it, or the table has no sealed values. */
export function erasedKeysIn({ columns }: Projection, events: readonly ProjectedEvent[]): ErasedKeys | undefined {
  const erasures = events.filter(isErasure)
  if (erasures.length === 0 || !(keyIdsColumn in columns)) return undefined
  const idsOf = (some: readonly ErasureEvent[]) => [...new Set(some.flatMap(({ data }) => data.key_ids))]
  return {
    all: idsOf(erasures),
    persons: idsOf(erasures.filter(({ type }) => type === 'SubjectErased')),
    secrets: idsOf(erasures.filter(({ type, data }) => type === 'RetentionApplied' && data.kept === 'secret')),
  }
}

/** The codec has checked that the data fits the type, but the compiler cannot connect the two. */
const isErasure = (event: DomainEvent): event is ErasureEvent & ProjectedEvent =>
  Object.hasOwn(erasureEvents, event.type)

/** Streams are read and rows are written in groups of this size, so that memory and open reads are limited. */
const streamsAtOnce = 50

/**
 * Replaces the rows that hold values of destroyed keys, within the transaction of `client`.
 * @param options `position`: the state of the streams up to there is written; `write` inserts rows
 */
export async function replaceErasedRows(
  client: ClientBase,
  options: {
    readonly projection: Projection
    readonly version: number
    readonly keys: ErasedKeys
    readonly position: LogPosition
    readonly source: Pick<ErasureSource, 'readStream'>
    readonly write: RowWriter
  },
): Promise<void> {
  const { projection, version, keys, position, source, write } = options
  if (keys.persons.length === 0 && keys.secrets.length === 0) return
  const table = `read_models.${tableName(projection, version)}`
  // A table under construction has no index, so every row is read.
  await client.query('set local statement_timeout = 0')
  const { rows } = await client.query<ErasedRow>(erasedRowsSql(projection, table), [keys.persons, keys.secrets])
  const streams = [...Map.groupBy(rows, ({ stream }) => stream)]
  for (let from = 0; from < streams.length; from += streamsAtOnce) {
    const group = streams.slice(from, from + streamsAtOnce)
    const events = await Promise.all(group.map(([stream]) => source.readStream(projection.rowStream.prefix + stream)))
    const ids = new Set(group.flatMap(([, own]) => own.map(({ id }) => id)))
    const until = events.flat().filter((event) => !isAfter(event.position, position))
    const inserts = foldBatch(projection, until).inserts.filter(({ id }) => ids.has(id))
    await client.query(`delete from ${table} where id = any($1)`, [[...ids]])
    await write(client, { inserts, patches: [] })
  }
}

type ErasedRow = { readonly id: string; readonly stream: string }

/** A bucket sealed the secrets of all payments of a day, most of which have ended since and hold none. */
function erasedRowsSql({ columns, rowStream }: Projection, table: string): string {
  const secrets = Object.entries(columns).filter(([, { sealed }]) => sealed === 'secret')
  const holdsSecret = ['false', ...secrets.map(([name]) => `${name} is not null`)].join(' or ')
  return `select id, ${rowStream.column}::text as stream from ${table}
    where ${keyIdsColumn} ?| $1::text[] or (${keyIdsColumn} ?| $2::text[] and (${holdsSecret}))`
}
