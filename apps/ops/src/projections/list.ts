// `projections list`: the tables of each projection, whether it runs, and its lag.
import { loadConfig } from '@paylog/config/environment'
import { url } from '@paylog/config/kinds'
import { createEventStore, type EventStore } from '@paylog/event-store/eventStore'
import { type LiveCheckpoint, liveCheckpoints } from '@paylog/projections/apply/checkpoints'
import { type Lag, lagOf, projectionFigures } from '@paylog/projections/lag'
import { rebuildLock } from '@paylog/projections/rebuild/rebuild'
import { verifyLock } from '@paylog/projections/rebuild/verify'
import { projections } from '@paylog/projections/registry'
import { projectionLock } from '@paylog/projections/runProjection'
import { listStoredTables, type StoredTable, tableName } from '@paylog/projections/tables/tables'
import { table } from '@paylog/runtime/process/table'
import { Type } from 'typebox'
import { type CliCommand, readArguments } from '../command.ts'
import type { Pool } from '../database.ts'
import { heldLocks, withReadModels } from './readModels.ts'
import { sizeText } from './sizes.ts'

const Config = Type.Object({
  DATABASE_URL: url(['postgres', 'postgresql']),
  EVENTSTORE_URL: Type.Optional(url(['esdb', 'esdb+discover'])),
})

export type ListedTable = Omit<StoredTable, 'projection' | 'position'> & {
  readonly table: string
  readonly position: string | null
}

export type ListedProjection = {
  readonly projection: string
  /** Of this program, or null for an unknown projection. */
  readonly schema_version: number | null
  /** Whether a projector applies events to it. */
  readonly is_running: boolean
  readonly is_rebuilding: boolean
  readonly is_verifying: boolean
  /** Null when unknown. */
  readonly lag: { readonly events: number; readonly is_more: boolean; readonly seconds: number } | null
  readonly tables: readonly ListedTable[]
}

export const projectionsList: CliCommand = {
  usage: '[--json]',
  summary: 'Show the tables of each projection, whether it runs, and its lag',
  details: [
    '  --json  one object: projections with their tables; row counts are estimates of the database',
    '',
    'Queries read the live table. The other states: building (filled by a rebuild, or left by one), retired (live before',
    'a rebuild), scratch (filled by a verification, or left by one). `projections prune` drops what is not in use.',
    '',
    'Lag: the recorded events that are not in the live table yet, and the age of the first of them. It is unknown when',
    'neither the event store nor a projector reports it.',
  ].join('\n'),
  async run(args, { environment, print, errors }) {
    const { values } = readArguments(args, [], { json: { type: 'boolean' } })
    const { DATABASE_URL, EVENTSTORE_URL } = loadConfig(Config, environment)
    const listed = await withReadModels(DATABASE_URL, errors, ({ pool }) => listProjections(pool, EVENTSTORE_URL))
    await print(values.json ? JSON.stringify({ projections: listed }) : listText(listed))
  },
}

async function listProjections(pool: Pool, eventStoreUrl: string | undefined): Promise<ListedProjection[]> {
  const stored = await listStoredTables(pool)
  const lags = await listLags(pool, eventStoreUrl)
  const known = new Map(projections.map(({ name, schemaVersion: schema_version }) => [name, schema_version]))
  const names = [...new Set([...known.keys(), ...stored.map(({ projection }) => projection)])]
  const held = await heldLocks(
    pool,
    names.flatMap((name) => projectionLocks(name)),
  )
  return names.map((name) => {
    const [is_running = false, is_rebuilding = false, is_verifying = false] = projectionLocks(name).map((lock) =>
      held.has(lock),
    )
    return {
      projection: name,
      schema_version: known.get(name) ?? null,
      is_running,
      is_rebuilding,
      is_verifying,
      lag: lagJson(lags.get(name)),
      tables: stored.filter(({ projection }) => projection === name).map(listedTable),
    }
  })
}

const projectionLocks = (name: string) => [projectionLock({ name }), rebuildLock({ name }), verifyLock({ name })]

function listedTable({ projection, position, ...table }: StoredTable): ListedTable {
  return { table: tableName({ name: projection }, table.version), position: position?.toString() ?? null, ...table }
}

function lagJson(lag: Lag | undefined): ListedProjection['lag'] {
  if (lag === undefined) return null
  return { events: lag.events, is_more: lag.isMore, seconds: Math.round(lag.seconds * 1_000) / 1_000 }
}

/** Short, so that the list is not delayed. */
const timing = { readTimeoutMs: 2_000, readRetryTimeoutMs: 2_000 }

type Lags = ReadonlyMap<string, Lag>

/** The lags that can be measured. */
export async function listLags(pool: Pool, eventStoreUrl: string | undefined): Promise<Lags> {
  const measured = eventStoreUrl === undefined ? undefined : await measure(pool, eventStoreUrl)
  if (measured !== undefined) return measured
  const figures = await projectionFigures(pool)
  return new Map(figures.flatMap(({ projection, lag }) => (lag === undefined ? [] : [[projection, lag]])))
}

async function measure(pool: Pool, connectionString: string): Promise<Lags | undefined> {
  const checkpoints = await liveCheckpoints(pool)
  const store = createEventStore({ connectionString, timing })
  try {
    const lags = projections.flatMap(({ name, streamPrefixes }) => {
      const checkpoint = checkpoints.get(name)
      return checkpoint === undefined ? [] : [measureOne(store, name, checkpoint, streamPrefixes)]
    })
    const known = (await Promise.all(lags)).flatMap(([name, lag]) => (lag === undefined ? [] : [[name, lag] as const]))
    return new Map(known)
  } catch {
    // The list shows the lag as unknown.
    return undefined
  } finally {
    await store.close()
  }
}

async function measureOne(
  store: EventStore,
  name: string,
  { position }: LiveCheckpoint,
  prefixes: readonly string[],
): Promise<readonly [string, Lag | undefined]> {
  return [name, lagOf(await store.lag(position, prefixes), Date.now())]
}

export function listText(listed: readonly ListedProjection[]): string {
  return [projectionsText(listed), tablesText(listed), ...listed.flatMap(remarks)].join('\n\n')
}

function projectionsText(listed: readonly ListedProjection[]): string {
  return table(
    ['Projection', 'Live table', 'Runs', 'Position', 'Lag', 'In progress'],
    listed.map((projection) => {
      const live = listedLiveTable(projection)
      return [
        projection.projection,
        live?.table ?? 'none',
        projection.is_running ? 'yes' : 'no',
        live === undefined ? '' : (live.position ?? 'start'),
        lagText(projection.lag),
        [...(projection.is_rebuilding ? ['rebuild'] : []), ...(projection.is_verifying ? ['verify'] : [])].join(', '),
      ]
    }),
  )
}

function tablesText(listed: readonly ListedProjection[]): string {
  return table(
    ['Table', 'State', 'Since', 'Schema version', 'Rows (about)', 'Size'],
    listed.flatMap(({ tables }) =>
      tables.map((each) => [
        each.table,
        each.state,
        each.since.toISOString(),
        String(each.schema_version),
        String(each.rows),
        sizeText(each.bytes),
      ]),
    ),
  )
}

const listedLiveTable = ({ tables }: ListedProjection) => tables.find(({ state }) => state === 'live')

function lagText(lag: ListedProjection['lag']): string {
  if (lag === null) return 'unknown'
  const events = `${lag.events}${lag.is_more ? ' or more' : ''} ${lag.events === 1 && !lag.is_more ? 'event' : 'events'}`
  return lag.events === 0 && !lag.is_more ? events : `${events}, ${Math.round(lag.seconds)} s`
}

/** Problems that need attention. */
function remarks(projection: ListedProjection): string[] {
  const { projection: name, schema_version } = projection
  const live = listedLiveTable(projection)
  if (live === undefined) return [`${name} has no live table: run \`npm run -s ops -- migrate\`.`]
  return [
    ...(live.stopped_because === null
      ? []
      : [`${name} stopped at an event that it cannot read: ${live.stopped_because.replaceAll(/\p{C}/gu, '?')}`]),
    ...schemaVersionRemark(live, schema_version),
  ]
}

function schemaVersionRemark(
  live: { readonly table: string; readonly schema_version: number },
  own: number | null,
): readonly string[] {
  const { table: name, schema_version } = live
  if (own === null) return [`${name} belongs to a projection that this program does not have.`]
  if (schema_version < own)
    return [`${name} has schema version ${schema_version}, and this program has ${own}: its projector will rebuild it.`]
  if (schema_version > own)
    return [
      `${name} has schema version ${schema_version}, and this program supports up to ${own}: a later version runs elsewhere.`,
    ]
  return []
}
