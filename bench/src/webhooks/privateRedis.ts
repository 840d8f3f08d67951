// A Redis of the benchmark's own, where one is installed.

import { freePort } from '@paylog/testing/processes'
import { findRedis, startRedisProcess } from '@paylog/testing/redisProcess'
import { temporaryDirectory } from '../harness/privatePostgres.ts'

/**
 * Starts one that keeps its queues on disk as one in production does.
 * @param path as in the variable PATH
 * @returns its URL; nothing where there is none
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
