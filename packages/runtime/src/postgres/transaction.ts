// A transaction on a connection of a pool.
import type { Pool, PoolClient } from 'pg'

/**
 * Runs work in a transaction.
 * @param begin the statements that start it: `begin` and its settings
 * @throws the error of the work, after a rollback
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
    // Closing the connection rolls back in any state.
    client.release(true)
    throw error
  }
}
