// The deliveries that came from some streams: for what is known of a person.
import type { Pool } from 'pg'

export async function countDeliveries(pool: Pick<Pool, 'query'>, streams: readonly string[]): Promise<number> {
  const { rows } = await pool.query<{ count: number }>(
    'select count(*)::int as count from webhooks.all_deliveries where source_stream = any($1)',
    [streams],
  )
  return rows[0]?.count ?? 0
}

/** The rows of the two tables, with the bodies and what the endpoints responded. One may move meanwhile. */
export async function deliveriesOfStreams(pool: Pick<Pool, 'query'>, streams: readonly string[]): Promise<object[]> {
  const found: object[] = []
  for (const table of ['deliveries', 'finished_deliveries']) {
    const { rows } = await pool.query<{ delivery: object }>(
      `select to_jsonb(d) as delivery from webhooks.${table} as d where source_stream = any($1) order by created_at, id`,
      [streams],
    )
    found.push(...rows.map(({ delivery }) => delivery))
  }
  return found
}
