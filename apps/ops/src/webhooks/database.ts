// The database in which deliveries stand.
import type { Writable } from 'node:stream'
import { listEndpoints } from '@paylog/deliveries/operations/deliveryList'
import { opsPool, type Pool } from '../opsPool.ts'

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
