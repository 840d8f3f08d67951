// Checks that the read models equal the log, independent of the projections.
import type { Recorded } from '@paylog/event-store/codec/codec'
import type { EventStore } from '@paylog/event-store/eventStore'
import { createLog } from '@paylog/runtime/telemetry/log'
import { waitFor } from '@paylog/testing/waitFor'
import type { Pool } from 'pg'
import type { Projection } from '../projection.ts'
import { type RebuildResult, rebuild } from '../rebuild/rebuild.ts'
import { type Verification, verify } from '../rebuild/verify.ts'
import { projections } from '../registry.ts'
import type { RowDifference } from '../tables/comparison.ts'
import { listTables, liveTable, tableName } from '../tables/tables.ts'
import { differenceOf, foldedRows, tableRows } from './expectedRows.ts'

type Parts = { readonly pool: Pool; readonly store: EventStore }

/**
 * Waits until the live tables equal the log.
 * @throws with the difference after a timeout
 */
export async function waitForAgreement(
  { pool, store }: Parts,
  which: readonly Projection[] = projections,
): Promise<void> {
  for (const projection of which) {
    const events: Recorded[] = []
    for await (const event of store.readLog({ prefixes: projection.streamPrefixes })) events.push(event)
    const expected = foldedRows(projection, events)
    let difference: string | undefined
    const agrees = async () => {
      const live = await liveTable(pool, projection)
      difference = differenceOf(await tableRows(pool, projection, tableName(projection, live?.version ?? 0)), expected)
      return difference === undefined
    }
    await waitFor(agrees, { what: projection.name }).catch((cause: unknown) => {
      throw new Error(`${projection.name} differs from the log: ${difference}`, { cause })
    })
  }
}

/** The states of a projection's tables by version; tables without an entry count as strays. */
export async function tableStates(pool: Pool, projection: Projection): Promise<string[]> {
  const known = await listTables(pool, projection.name)
  const { rows } = await pool.query<{ name: string }>(
    `select relname as name from pg_class where relnamespace = 'read_models'::regnamespace and relkind = 'r'
     and relname ~ ('^' || $1 || '_v\\d+$')`,
    [projection.name],
  )
  const names = new Set(known.map(({ version }) => tableName(projection, version)))
  const strays = rows.filter(({ name }) => !names.has(name)).map(({ name }) => `stray ${name}`)
  return [...known.map(({ state }) => state), ...strays]
}

/** Checkpoints without a table, and tables that lack their checkpoint. */
export async function wrongCheckpoints(pool: Pool): Promise<string[]> {
  const { rows } = await pool.query<{ name: string }>(
    `select coalesce(name, projection || '@' || version) as name from read_models.checkpoints
     full join (select * from read_models.tables where state <> 'retired') as kept on name = projection || '@' || version
     where name is null or projection is null`,
  )
  return rows.map(({ name }) => name)
}

export type ReplayParts = { readonly databaseUrl: string; readonly pool: Pool; readonly store: EventStore }

const log = createLog({ app: 'test', level: 'silent' })
const signal = new AbortController().signal
const onProgress = () => {}

export type VerifiedRows = Verification & { readonly name: string; readonly differences: readonly RowDifference[] }

export async function verifyOne(
  { databaseUrl, pool, store }: ReplayParts,
  projection: Projection,
): Promise<VerifiedRows> {
  const differences: RowDifference[] = []
  const onDifference = (difference: RowDifference) => void differences.push(difference)
  const verified = await verify({ databaseUrl, pool, store, projection, signal, log, onProgress, onDifference })
  return { ...verified, name: projection.name, differences }
}

export async function verifyAll(parts: ReplayParts): Promise<VerifiedRows[]> {
  const all: VerifiedRows[] = []
  for (const projection of projections) all.push(await verifyOne(parts, projection))
  return all
}

export type RebuiltRows = RebuildResult & { readonly differences: readonly RowDifference[] }

export async function rebuildOne(
  { databaseUrl, pool, store }: ReplayParts,
  projection: Projection,
): Promise<RebuiltRows> {
  const differences: RowDifference[] = []
  const onDifference = (difference: RowDifference) => void differences.push(difference)
  const rebuilt = await rebuild({ databaseUrl, pool, store, projection, signal, log, onProgress, onDifference })
  return { ...rebuilt, differences }
}
