// A database of its own with the read models' tables.

import { createPool, migrate } from '@paylog/runtime/postgres/postgres'
import { createLog } from '@paylog/runtime/telemetry/log'
import { createTestDatabase } from '@paylog/testing/postgres'
import type { Pool, QueryConfig } from 'pg'
import file, { type Test } from 'tap'
import { readModelMigrations } from '../migrate.ts'
import type { Queryable } from '../queries/namedQuery.ts'

/** Of a test of this file that is over. */
let spare: string | undefined

/**
 * A migrated database for one test file or test, and a pool on it that is closed at its end. Tests that come one after the
 * other are given the same one with everything made anew, which is several times cheaper than making another.
 */
export async function readModelDatabase(t: Test): Promise<{ databaseUrl: string; pool: Pool }> {
  const left = spare
  spare = undefined
  const databaseUrl = left ?? (await createTestDatabase(file)).databaseUrl
  const log = createLog({ app: 'test', level: 'silent' })
  const pool = createPool({ databaseUrl, applicationName: 'test', max: 8, log })
  t.teardown(async () => {
    await pool.end()
    // What a failed test has left is kept for a look.
    if (t.passing()) spare = databaseUrl
  })
  if (left !== undefined) await pool.query('drop schema if exists read_models, webhooks cascade')
  await migrate(pool, readModelMigrations)
  return { databaseUrl, pool }
}

/** A pool that keeps what it is asked. */
export function recordingPool(pool: Pool): { readonly db: Queryable; readonly queries: readonly QueryConfig[] } {
  const queries: QueryConfig[] = []
  const query = (statement: QueryConfig) => {
    queries.push(statement)
    return pool.query(statement)
  }
  // Our queries use only this one of the ways to ask a pool.
  return { db: { query } as Queryable, queries }
}
