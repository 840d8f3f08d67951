// The projection alone: events that are in memory become rows, beside a COPY of the rows that come of them.
import { finished } from 'node:stream/promises'
import type { Recorded } from '@paylog/event-store/codec'
import { createApplier } from '@paylog/projections/applier'
import { foldBatch } from '@paylog/projections/batch'
import { copyText } from '@paylog/projections/copyText'
import { payments } from '@paylog/projections/payments/projection'
import { dropTable, makeTable, tableName } from '@paylog/projections/tables'
import { inTransaction } from '@paylog/projections/transaction'
import { copyRows } from '@paylog/projections/writers'
import type { Pool } from 'pg'
import { from as copyFrom } from 'pg-copy-streams'
import { windowEvents } from '../rebuild/following.ts'
import { figureLine, median, number } from './report.ts'

const wantedShare = 0.5

export type ProjectionPart = {
  readonly rows: number
  /** Of each pair, the time of COPY by that of the projection. */
  readonly ratios: readonly number[]
  readonly copyMs: readonly number[]
  readonly projectionMs: readonly number[]
}

/** Every second round the other way about (A B, B A, …), each on tables of its own. */
export async function measureProjectionPart(
  pool: Pool,
  events: readonly Recorded[],
  rounds: number,
): Promise<ProjectionPart> {
  const { inserts } = foldBatch(payments, events)
  const text = copyText(payments, inserts)
  const measured = {
    rows: inserts.length,
    ratios: [] as number[],
    copyMs: [] as number[],
    projectionMs: [] as number[],
  }
  const copy = () => copied(pool, text)
  const project = () => projected(pool, events)
  for (let round = 0; round < rounds; round += 1) {
    const [first, second] = round % 2 === 0 ? [copy, project] : [project, copy]
    const times = [await first(), await second()]
    const [copyMs = 0, projectionMs = 0] = round % 2 === 0 ? times : times.reverse()
    measured.copyMs.push(copyMs)
    measured.projectionMs.push(projectionMs)
    measured.ratios.push(copyMs / projectionMs)
  }
  return measured
}

/** The least that there is to do: one statement, one transaction, into a table with its indexes. */
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

/** As a rebuild does it. */
async function projected(pool: Pool, events: readonly Recorded[]): Promise<number> {
  return await timed(
    pool,
    async () => undefined,
    async (version) => {
      const applier = createApplier({ pool, projection: payments, version, writer: copyRows })
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

/** Without the statistics, which a COPY leaves out as well. */
async function makeIndexes(pool: Pool, version: number): Promise<void> {
  const indexes = payments.table.indexes(tableName(payments, version))
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

export function sayProjectionPart(events: number, part: ProjectionPart, say: (text: string) => void): void {
  const { rows, ratios } = part
  const [copied, projected] = [median(part.copyMs), median(part.projectionMs)]
  const rate = (count: number, ms: number) => number((count * 1_000) / ms)
  say(`the projection alone, ${number(events)} events in memory that become ${number(rows)} rows`)
  say(`  COPY of the rows ${copied.toFixed(0)} ms, ${rate(rows, copied)} rows/s (medians)`)
  say(`  projection ${projected.toFixed(0)} ms, ${rate(rows, projected)} rows/s, ${rate(events, projected)} events/s`)
  say(`  ratios ${ratios.map((ratio) => ratio.toFixed(2)).join(' ')}`)
  const name = 'time of COPY by time of the projection, median'
  say(figureLine({ name, measured: median(ratios), target: wantedShare, better: 'higher', digits: 2 }))
}
