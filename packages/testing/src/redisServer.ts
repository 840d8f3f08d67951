// A separate Redis for a test, which can be paused, killed and restarted.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'
import { freePort } from './processes.ts'
import { findRedis, startRedisProcess } from './redisProcess.ts'

export type RedisServer = {
  /** The same after a restart. */
  readonly url: string
  readonly port: number
  kill(): Promise<void>
  /** Starts it with its stored data. */
  restart(): Promise<void>
  /** Starts it with an empty directory. */
  restartEmpty(): Promise<void>
  pause(): void
  resume(): void
}

const program = await findRedis(process.env.PATH)

/** Options of a test that starts a Redis: skips the test where Redis is not installed. */
export const withRedis = program === undefined ? { skip: 'NOT TESTED: there is no redis-server' } : {}

/**
 * Starts a Redis, which ends with the test.
 * @param options `isDurable`: stores data on disk
 */
export async function startRedisServer(t: Test, { isDurable = true } = {}): Promise<RedisServer> {
  const directory = await mkdtemp(join(tmpdir(), 'paylog-redis-'))
  const port = await freePort()
  const start = (at: string) =>
    startRedisProcess({ program: program ?? 'redis-server', port, directory: at, isDurable })
  let server = await start(directory)
  t.teardown(async () => {
    await server.stop('SIGKILL')
    await rm(directory, { recursive: true, force: true })
  })
  return {
    url: `redis://127.0.0.1:${port}`,
    port,
    kill: () => server.stop('SIGKILL'),
    async restart() {
      server = await start(directory)
    },
    async restartEmpty() {
      server = await start(await mkdtemp(join(directory, 'empty-')))
    },
    pause: () => server.signal('SIGSTOP'),
    resume: () => server.signal('SIGCONT'),
  }
}
