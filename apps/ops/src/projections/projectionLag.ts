// How far behind the log the projections are: asked of the log itself, and known from their projectors otherwise.
import { createEventStore, type EventStore } from '@paylog/event-store/eventStore'
import { type LiveCheckpoint, liveCheckpoints } from '@paylog/projections/apply/checkpoints'
import { type Lag, lagOf, projectionFigures } from '@paylog/projections/lag'
import { projections } from '@paylog/projections/registry'
import type { Pool } from '../opsPool.ts'

/** Nobody wants to wait long for a list. */
const timing = { readTimeoutMs: 2_000, readPatienceMs: 2_000 }

type Lags = ReadonlyMap<string, Lag>

/** Those of which it can be known. */
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
    // That nobody can say it is what the list says.
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
