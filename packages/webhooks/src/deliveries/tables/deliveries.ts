// The work list of one worker: what it records, claims, finishes and releases.
import { batched } from '@paylog/runtime/postgres/batched'
import type { Pool } from 'pg'
import { readCheckpoint, webhookSubscription } from '../subscriptions/checkpoint.ts'
import { type ClaimRequest, claim, dueDeliveries, dueTests, releaseClaims } from './claims.ts'
import { type MappedBatch, type NewClaims, recordDeliveries } from './recordDeliveries.ts'
import { type AttemptResult, recordResults } from './results.ts'

export type Deliveries = ReturnType<typeof createDeliveries>

/**
 * Settings for the pool. Plans are cached, and the work list is nearly empty at one moment and long, or full of dead rows, at the
 * next: a plan that was best for the empty table would read all of it.
 */
export const planSettings = { enable_seqscan: 'off', enable_bitmapscan: 'off' } as const

/**
 * @param pool with `planSettings`
 * @param worker the id under which this process claims
 */
export function createDeliveries(pool: Pool, worker: string) {
  return {
    /** The position up to which the log is mapped; `undefined` before the first batch. */
    checkpoint: () => readCheckpoint(pool, webhookSubscription),

    /** See `recordDeliveries`. */
    record: (batch: MappedBatch, leaseOf: NewClaims['leaseOf'] = () => undefined) =>
      recordDeliveries(pool, batch, { worker, leaseOf }),

    /** See `dueDeliveries`. */
    claim: (requests: readonly ClaimRequest[], at: Date) => claim(pool, dueDeliveries, worker, requests, at),

    /** See `dueTests`. */
    claimTests: (requests: readonly ClaimRequest[], at: Date) => claim(pool, dueTests, worker, requests, at),

    /** See `releaseClaims`. */
    release: (ids: readonly string[]) => releaseClaims(pool, worker, ids),

    /** See `recordResults`. Concurrent calls share statements. */
    finish: batched({
      maxBatch: 100,
      slowAfterMs: 250,
      run: (results: readonly AttemptResult[]) => recordResults(pool, worker, results),
    }),
  }
}
