// `npm run bench -- webhooks`: delivery throughput, time from command to webhook, and the effect of a hanging endpoint.
import { parseArgs } from 'node:util'
import { measureCommandToWebhook } from '../commands/commandToWebhook.ts'
import type { BenchmarkOptions, BenchmarkResult } from '../harness/benchmark.ts'
import { startPrivatePostgres } from '../harness/privatePostgres.ts'
import { measureDelivering } from './delivering.ts'
import { startPrivateRedis } from './privateRedis.ts'

/** Measures on private servers, in about four minutes. @throws Error for any option: it has none */
export async function webhooks(benchmarkOptions: BenchmarkOptions): Promise<BenchmarkResult> {
  parseArgs({ args: [...benchmarkOptions.args], options: {} })
  const { stack, print } = benchmarkOptions
  const postgres = await startPrivatePostgres(stack)
  const redisUrl = await startPrivateRedis(stack, benchmarkOptions.env.PATH)
  if (redisUrl === undefined) print('on Postgres alone, because redis-server is not installed')
  const redis = redisUrl === undefined ? {} : { REDIS_URL: redisUrl }
  const delivering = await measureDelivering({ DATABASE_URL: postgres.databaseUrl, ...redis }, benchmarkOptions)
  return {
    postgres: postgres.description,
    rows: [...delivering, ...(await measureCommandToWebhook(benchmarkOptions, redis))],
  }
}
