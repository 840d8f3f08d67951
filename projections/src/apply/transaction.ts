// A transaction on a connection of a pool.
import type { Pool, PoolClient } from 'pg'

/**
 * Does work in a transaction of its own.
 * @param begin how it begins: `begin` and what is set for it
 * @throws what the work throws, after rolling back
 */
export async function inTransaction<Result>(
  pool: Pool,
  work: (client: PoolClient) => Promise<Result>,
  begin = 'begin',
): Promise<Result> {
  const client = await pool.connect()
  try {
    await client.query(begin)
    const result = await work(client)
    await client.query('commit')
    client.release()
    return result
  } catch (error) {
    // Whatever state the connection is in, closing it rolls back.
    client.release(true)
    throw error
  }
}
