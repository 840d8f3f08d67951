// The state of every projection for an operator: tables, position, lag, and what runs.
import { setTimeout as sleep } from 'node:timers/promises'
import { mapFields } from '@paylog/domain/fields'
import type { EventStore } from '@paylog/event-store/eventStore'
import type { Pool } from 'pg'
import { liveCheckpoints } from './apply/checkpoints.ts'
import { type Lag, lagOf, projectionFigures } from './lag.ts'
import { rebuildLock } from './rebuild/rebuild.ts'
import { heldLocks } from './rebuild/replay.ts'
import { verifyLock } from './rebuild/verify.ts'
import { projections } from './registry.ts'
import { projectionLock } from './runProjection.ts'
import { listStoredTables, type StoredTable, tableName } from './tables/tables.ts'

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

/**
 * The projections of this program and of the database, with their tables.
 * @param store measures the lag; without it, and when it does not respond, the last report of a projector counts
 */
export async function listProjections(pool: Pool, store: EventStore | undefined): Promise<ListedProjection[]> {
  const stored = await listStoredTables(pool)
  const lags = await listLags(pool, store)
  const known = new Map(projections.map(({ name, schemaVersion: schema_version }) => [name, schema_version]))
  const names = [...new Set([...known.keys(), ...stored.map(({ projection }) => projection)])]
  const held = await heldLocks(
    pool,
    names.flatMap((name) => Object.values(locksOf(name))),
  )
  return names.map((name) => ({
    projection: name,
    schema_version: known.get(name) ?? null,
    ...mapFields(locksOf(name), (lock) => held.has(lock)),
    lag: lagJson(lags.get(name)),
    tables: stored.filter(({ projection }) => projection === name).map(listedTable),
  }))
}

const locksOf = (name: string) => ({
  is_running: projectionLock({ name }),
  is_rebuilding: rebuildLock({ name }),
  is_verifying: verifyLock({ name }),
})

function listedTable({ projection, position, ...table }: StoredTable): ListedTable {
  return { table: tableName({ name: projection }, table.version), position: position?.toString() ?? null, ...table }
}

function lagJson(lag: Lag | undefined): ListedProjection['lag'] {
  if (lag === undefined) return null
  return { events: lag.events, is_more: lag.isMore, seconds: Math.round(lag.seconds * 1_000) / 1_000 }
}

/** Short, so that the list is not delayed: of one measurement, and of all. */
const timeoutMs = 1_000
const measureTimeoutMs = 2_000

type Lags = ReadonlyMap<string, Lag>

/** The lags that can be measured. */
async function listLags(pool: Pool, store: EventStore | undefined): Promise<Lags> {
  const tooLate = sleep(measureTimeoutMs, undefined, { ref: false })
  // An unavailable event store is no error here: the projector may have reported the lag.
  const measured = store && (await Promise.race([measure(pool, store).catch(() => undefined), tooLate]))
  if (measured !== undefined) return measured
  const figures = await projectionFigures(pool)
  return new Map(figures.flatMap(({ projection, lag }) => (lag === undefined ? [] : [[projection, lag]])))
}

async function measure(pool: Pool, store: EventStore): Promise<Lags> {
  const checkpoints = await liveCheckpoints(pool)
  const lags = projections.map(async ({ name, streamPrefixes }) => {
    const checkpoint = checkpoints.get(name)
    if (checkpoint === undefined) return []
    const lag = lagOf(await store.lag(checkpoint.position, streamPrefixes, { timeoutMs }), Date.now())
    return lag === undefined ? [] : [[name, lag] as const]
  })
  return new Map((await Promise.all(lags)).flat())
}
