// A Redis of a test's own, which may be paused, killed and started again.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '@paylog/testing/processes'
import { type RedisProcess, startRedisProcess } from '@paylog/testing/redisProcess'
import type { Test } from 'tap'

export type RedisServer = {
  /** The same after a restart. */
  readonly url: string
  readonly port: number
  kill(): Promise<void>
  /** Starts it with an empty directory. */
  startAnew(): Promise<void>
  pause(): void
  goOn(): void
}

/** Starts a Redis that keeps what it is told on disk. It ends with the test. */
export async function startRedisServer(t: Test): Promise<RedisServer> {
  const directory = await mkdtemp(join(tmpdir(), 'paylog-redis-'))
  const port = await freePort()
  let server = await start(port, directory)
  t.teardown(async () => {
    await server.stop('SIGKILL')
    await rm(directory, { recursive: true, force: true })
  })
  return {
    url: `redis://127.0.0.1:${port}`,
    port,
    kill: () => server.stop('SIGKILL'),
    async startAnew() {
      const anew = await mkdtemp(join(directory, 'anew-'))
      server = await start(port, anew)
    },
    pause: () => server.signal('SIGSTOP'),
    goOn: () => server.signal('SIGCONT'),
  }
}

function start(port: number, directory: string): Promise<RedisProcess> {
  return startRedisProcess({ program: 'redis-server', port, directory, isDurable: true })
}
