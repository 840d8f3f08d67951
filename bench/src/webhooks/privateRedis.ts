// A private Redis, if redis-server is installed.

import { freePort } from '@paylog/testing/processes'
import { findRedis, startRedisProcess } from '@paylog/testing/redisProcess'
import { temporaryDirectory } from '../harness/privatePostgres.ts'

/**
 * Starts a Redis that keeps its queues on disk as in production.
 * @param path the variable PATH
 * @returns its URL, or undefined when it is not installed
 */
export async function startPrivateRedis(
  stack: AsyncDisposableStack,
  path: string | undefined,
): Promise<string | undefined> {
  const program = await findRedis(path)
  if (program === undefined) return undefined
  const directory = await temporaryDirectory(stack)
  const redis = await startRedisProcess({ program, port: await freePort(), directory, isDurable: true })
  stack.defer(() => redis.stop())
  return redis.url
}
