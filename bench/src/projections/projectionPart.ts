// The projection alone: applies events from memory, compared with a COPY of the resulting rows.
import { finished } from 'node:stream/promises'
import type { Recorded } from '@paylog/event-store/codec/codec'
import { createApplier } from '@paylog/projections/apply/applier'
import { foldBatch } from '@paylog/projections/apply/batch'
import { copyRows, copyText } from '@paylog/projections/apply/writers'
import { payments } from '@paylog/projections/payments/projection'
import { windowEvents } from '@paylog/projections/rebuild/follower'
import { dropTable, makeTable, tableName } from '@paylog/projections/tables/tables'
import { noErasures } from '@paylog/projections/testing/noErasures'
import { inTransaction } from '@paylog/runtime/postgres/transaction'
import type { Pool } from 'pg'
import { from as copyFrom } from 'pg-copy-streams'
import {
  alternateRounds,
  type BenchmarkRow,
  formatNumber,
  median,
  type Print,
  summarizeRounds,
} from '../harness/benchmark.ts'

const minRatio = 0.5

export type ProjectionPart = {
  readonly row: BenchmarkRow
  /** Time of the COPY of the rows, per event. */
  readonly copyMsPerEvent: number
}

/** Each round uses new tables. */
export async function measureProjectionPart(
  pool: Pool,
  events: readonly Recorded[],
  { rounds, print }: { readonly rounds: number; readonly print: Print },
): Promise<ProjectionPart> {
  const { inserts } = foldBatch(payments, events)
  const text = copyText(payments, inserts)
  const measured = await alternateRounds(
    rounds,
    () => projected(pool, events),
    () => copied(pool, text),
  )
  const rate = (ms: number) => (inserts.length * 1_000) / ms
  const rates = measured.map(({ ours, bare }) => ({ ours: rate(ours), bare: rate(bare) }))
  print(`ratios of the projection alone: ${rates.map(({ ours, bare }) => (ours / bare).toFixed(2)).join(' ')}`)
  const name = `rows of the projection alone, of ${formatNumber(events.length)} events in memory`
  const compared = summarizeRounds(rates, 'COPY of the same rows')
  const target = { of: 'ratio', atLeast: minRatio } as const
  return {
    row: { name, unit: '/s', ...compared, target },
    copyMsPerEvent: median(measured.map(({ bare }) => bare)) / events.length,
  }
}

/** The minimum work: one COPY in one transaction into a table with its indexes. */
async function copied(pool: Pool, text: string): Promise<number> {
  return await timed(pool, makeIndexes, async (version) => {
    const columns = ['id', 'revision', ...Object.keys(payments.columns)]
    const client = await pool.connect()
    try {
      const statement = `copy read_models.${tableName(payments, version)} (${columns.join(', ')}) from stdin`
      const copying = client.query(copyFrom(statement))
      copying.end(text)
      await finished(copying)
    } finally {
      client.release()
    }
  })
}

/** As a rebuild does. */
async function projected(pool: Pool, events: readonly Recorded[]): Promise<number> {
  return await timed(
    pool,
    async () => undefined,
    async (version) => {
      const applier = createApplier({ pool, projection: payments, version, source: noErasures, writer: copyRows })
      await applier.start()
      for (let from = 0; from < events.length; from += windowEvents) {
        const window = events.slice(from, from + windowEvents)
        const position = window.at(-1)?.position
        if (position !== undefined) await applier.apply({ events: window, position })
      }
      await makeIndexes(pool, version)
    },
  )
}

/** Without statistics, which COPY does not collect either. */
async function makeIndexes(pool: Pool, version: number): Promise<void> {
  const indexes = payments.indexes(tableName(payments, version))
  await inTransaction(pool, (client) => client.query(indexes), 'begin; set local search_path to read_models, public')
}

async function timed(
  pool: Pool,
  prepare: (pool: Pool, version: number) => Promise<unknown>,
  work: (version: number) => Promise<void>,
): Promise<number> {
  const version = await makeTable(pool, payments, 'scratch')
  try {
    await prepare(pool, version)
    await pool.query('checkpoint')
    const begin = performance.now()
    await work(version)
    return performance.now() - begin
  } finally {
    await dropTable(pool, payments, version)
  }
}
