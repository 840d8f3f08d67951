// The deliveries that came from some streams: for what is known of a person.
import type { Pool } from 'pg'

export async function countDeliveries(pool: Pick<Pool, 'query'>, streams: readonly string[]): Promise<number> {
  const { rows } = await pool.query<{ count: number }>(
    'select count(*)::int as count from webhooks.all_deliveries where source_stream = any($1)',
    [streams],
  )
  return rows[0]?.count ?? 0
}

/** The rows of the two tables, with the bodies and what the endpoints responded. In one snapshot, because a delivery may move. */
export async function deliveriesOfStreams(pool: Pick<Pool, 'query'>, streams: readonly string[]): Promise<object[]> {
  const rowsOf = (table: string) =>
    `select created_at, id, to_jsonb(d) as delivery from webhooks.${table} as d where source_stream = any($1)`
  const { rows } = await pool.query<{ delivery: object }>(
    `select delivery from (${rowsOf('deliveries')} union all ${rowsOf('finished_deliveries')}) as d order by created_at, id`,
    [streams],
  )
  return rows.map(({ delivery }) => delivery)
}
