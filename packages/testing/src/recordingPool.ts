// Records the queries of a call, and shows how Postgres runs them.
import type { Queryable } from '@paylog/runtime/postgres/runQuery'
import type { Pool, QueryConfig } from 'pg'

/** A pool that records its queries. */
export function recordingPool(pool: Pool): { readonly db: Queryable; readonly queries: readonly QueryConfig[] } {
  const queries: QueryConfig[] = []
  const query = (statement: QueryConfig) => {
    queries.push(statement)
    return pool.query(statement)
  }
  // Our queries use only this signature of `query`.
  return { db: { query } as Queryable, queries }
}

/** The plans of all statements of a call, with their figures. */
export async function plansOf(pool: Pool, run: (db: Queryable) => Promise<unknown>): Promise<readonly string[]> {
  const { db, queries } = recordingPool(pool)
  await run(db)
  const plans: string[] = []
  for (const { text, values = [] } of queries) {
    const { rows } = await pool.query<{ 'QUERY PLAN': string }>(`explain analyze ${text}`, values)
    plans.push(rows.map((row) => row['QUERY PLAN']).join('\n'))
  }
  return plans
}
