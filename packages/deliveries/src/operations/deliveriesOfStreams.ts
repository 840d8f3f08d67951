// The deliveries that came from some streams: for what is known of a person.
import type { Pool } from 'pg'

const tables = ['deliveries', 'finished_deliveries'] as const

/** Each is in one of the two tables, but may move meanwhile. */
export async function countDeliveries(pool: Pick<Pool, 'query'>, streams: readonly string[]): Promise<number> {
  let count = 0
  for (const table of tables) {
    const { rows } = await pool.query<{ count: number }>(
      `select count(*)::int as count from webhooks.${table} where source_stream = any($1)`,
      [streams],
    )
    count += rows[0]?.count ?? 0
  }
  return count
}

/** The rows of the two tables, with the bodies and what the endpoints responded. */
export async function deliveriesOfStreams(pool: Pick<Pool, 'query'>, streams: readonly string[]): Promise<object[]> {
  const found: object[] = []
  for (const table of tables) {
    const { rows } = await pool.query<{ delivery: object }>(
      `select to_jsonb(d) as delivery from webhooks.${table} as d where source_stream = any($1) order by created_at, id`,
      [streams],
    )
    found.push(...rows.map(({ delivery }) => delivery))
  }
  return found
}
