// The stored tree, for the audit commands.
import type { Writable } from 'node:stream'
import { loadConfig } from '@paylog/config/environment'
import { url } from '@paylog/config/kinds'
import { Type } from 'typebox'
import { OpsError } from '../command.ts'
import { opsPool, type Pool } from '../database.ts'

const Config = Type.Object({ DATABASE_URL: url(['postgres', 'postgresql']) })

/**
 * Runs `work` with connections to the schema `audit`.
 * @throws OpsError when the schema does not exist, ConfigError, and the errors of `work`
 */
export async function withAuditTree<Result>(
  environment: NodeJS.ProcessEnv,
  errors: Writable,
  work: (pool: Pool) => Promise<Result>,
): Promise<Result> {
  const { pool } = opsPool(loadConfig(Config, environment).DATABASE_URL, { max: 3, errors })
  try {
    return await work(pool)
  } catch (error) {
    if (!isMissingTable(error)) throw error
    throw new OpsError(
      'This database has no tree of the log yet. `migrate` creates its tables, the projector fills them.',
      {
        cause: error,
      },
    )
  } finally {
    await pool.end()
  }
}

/** undefined_table, invalid_schema_name */
const isMissingTable = (error: unknown) =>
  error instanceof Error && 'code' in error && (error.code === '42P01' || error.code === '3F000')
