// Postgres alone with the same events: durable inserts of single rows, and a SELECT of the log.
import { randomUUID } from 'node:crypto'
import { createPool } from '@paylog/runtime/postgres/pool'
import { createLog } from '@paylog/runtime/telemetry/log'
import { data } from './appends.ts'
import type { ReadRate } from './reads.ts'

/** More connections do not make Postgres faster. */
const maxConnections = 32
const rowsPerSelect = 1_000

export type BareTable = {
  /** Inserts one row in its own transaction. */
  insertOne(): Promise<unknown>
  /** Selects at most this many rows of the log from its start. */
  selectLog(maxRows: number): Promise<ReadRate>
}

/** @param stack closes the connections */
export async function createBareTable(databaseUrl: string, stack: AsyncDisposableStack): Promise<BareTable> {
  const log = createLog({ app: 'bench', level: 'error' })
  const pool = createPool({ databaseUrl, applicationName: 'bench', max: maxConnections, log })
  stack.defer(() => pool.end())
  await pool.query('create table public.bare_events (id uuid primary key, stream text, type text, data bytea)')
  const bytes = Buffer.from(JSON.stringify(data))
  const text = 'insert into public.bare_events values ($1, $2, $3, $4)'
  return {
    insertOne() {
      const id = randomUUID()
      return pool.query({ name: 'bare_insert', text, values: [id, `bench-${id}`, 'Measured', bytes] })
    },
    async selectLog(maxRows) {
      const begin = performance.now()
      let events = 0
      for (let last = 0n; events < maxRows; ) {
        const { rows } = await pool.query<{ position: bigint }>({
          name: 'bare_select',
          text: 'select * from event_store.events where position > $1 order by position limit $2',
          values: [last, Math.min(rowsPerSelect, maxRows - events)],
        })
        const end = rows.at(-1)
        if (end === undefined) break
        last = end.position
        events += rows.length
      }
      return { events, perSecond: (events * 1_000) / (performance.now() - begin) }
    },
  }
}
