// Connections of a test to its database.
import { createPool } from '@paylog/runtime/postgres/pool'
import { createLog } from '@paylog/runtime/telemetry/log'
import type { Test } from 'tap'

/** A pool that is closed at the end of the test. */
export function testPool(t: Test, databaseUrl: string, max = 4) {
  const log = createLog({ app: 'test', level: 'silent' })
  const pool = createPool({ databaseUrl, applicationName: 'test', max, log })
  t.teardown(() => pool.end())
  return pool
}
