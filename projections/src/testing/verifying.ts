// Rebuilds and verifications within the test's own process.
import type { EventStore } from '@paylog/event-store/eventStore'
import { createLog } from '@paylog/runtime/telemetry/log'
import type { Pool } from 'pg'
import type { Projection } from '../projection.ts'
import { type RebuildResult, rebuild } from '../rebuild/rebuild.ts'
import { type Verification, verify } from '../rebuild/verify.ts'
import { projections } from '../registry.ts'
import type { RowDifference } from '../tables/comparison.ts'

export type ReplayParts = { readonly databaseUrl: string; readonly pool: Pool; readonly store: EventStore }

const log = createLog({ app: 'test', level: 'silent' })
const signal = new AbortController().signal

export type VerifiedRows = Verification & { readonly name: string; readonly differences: readonly RowDifference[] }

export async function verifyOne(
  { databaseUrl, pool, store }: ReplayParts,
  projection: Projection,
): Promise<VerifiedRows> {
  const differences: RowDifference[] = []
  const onDifference = (difference: RowDifference) => void differences.push(difference)
  const verified = await verify({ databaseUrl, pool, store, projection, signal, log, onDifference })
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
  return { ...(await rebuild({ databaseUrl, pool, store, projection, signal, log, onDifference })), differences }
}
