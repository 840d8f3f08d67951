// The stored tree, for the exports.
import type { Writable } from 'node:stream'
import { createSystem, type Pool } from '../system.ts'

/** Runs `work` with connections to the schema `audit`. @throws ConfigError, and the errors of `work` */
export async function withAuditTree<Result>(
  environment: NodeJS.ProcessEnv,
  errors: Writable,
  work: (pool: Pool) => Promise<Result>,
): Promise<Result> {
  const open = createSystem(environment, errors)
  try {
    return await work(open.pool())
  } finally {
    await open.close()
  }
}
