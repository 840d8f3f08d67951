// Room: projections, tests only. A database of its own with the read models' tables.
import { createLog } from '@paylog/runtime/log'
import { createPool, migrate } from '@paylog/runtime/postgres'
import { createTestDatabase } from '@paylog/testing/postgres'
import type { Pool, QueryConfig } from 'pg'
import type { Test } from 'tap'
import { readModelMigrations } from './migrate.ts'
import type { Queryable } from './namedQuery.ts'

/** A migrated database for one test file or test, and a pool on it that is closed at its end. */
export async function readModelDatabase(t: Test): Promise<{ databaseUrl: string; pool: Pool }> {
  const { databaseUrl } = await createTestDatabase(t)
  const log = createLog({ app: 'test', level: 'silent' })
  const pool = createPool({ databaseUrl, applicationName: 'test', max: 8, log })
  await migrate(pool, readModelMigrations)
  t.teardown(() => pool.end())
  return { databaseUrl, pool }
}

/** A pool that keeps what it is asked. */
export function watched(pool: Pool): { readonly db: Queryable; readonly asked: readonly QueryConfig[] } {
  const asked: QueryConfig[] = []
  const query = (statement: QueryConfig) => {
    asked.push(statement)
    return pool.query(statement)
  }
  // Our queries use only this one of the ways to ask a pool.
  return { db: { query } as Queryable, asked }
}
