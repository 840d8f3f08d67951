// Connections of the command line to Postgres.
import type { Writable } from 'node:stream'
import { listEndpoints } from '@paylog/deliveries/operations/deliveryList'
import { createPool } from '@paylog/runtime/postgres/postgres'
import { createLog, type Logger } from '@paylog/runtime/telemetry/log'

export type Pool = ReturnType<typeof createPool>

/** @param options `errors` is where what happens between two statements is told, from `level` on */
export function opsPool(
  databaseUrl: string,
  options: { readonly max: number; readonly errors: Writable; readonly level?: 'warn' | 'fatal' },
): { readonly pool: Pool; readonly log: Logger } {
  const { max, errors, level = 'warn' } = options
  const log = createLog({ app: 'ops', level }, errors)
  return { pool: createPool({ databaseUrl, applicationName: 'paylog ops', max, log }), log }
}

// The database in which deliveries stand.

/** Does work on it. @throws what the work throws, and the database's errors */
export async function withDeliveries<Result>(
  databaseUrl: string,
  errors: Writable,
  work: (pool: Pool) => Promise<Result>,
): Promise<Result> {
  const { pool } = opsPool(databaseUrl, { max: 2, errors })
  try {
    return await work(pool)
  } finally {
    await pool.end()
  }
}

/** "1 delivery", "2 deliveries". */
export const deliveriesText = (count: number) => (count === 1 ? '1 delivery' : `${count} deliveries`)

/** That there is no such node, and which there are. */
export async function unknownEndpoint(pool: Pool, node: string): Promise<string> {
  const known = (await listEndpoints(pool)).map((row) => row.node)
  return `There is no node ${node}. ${known.length === 0 ? 'No node was ever configured.' : `There are ${known.join(', ')}.`}`
}
