// A Redis of a test's own, which may be paused, killed and started again.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '@paylog/testing/processes'
import { waitFor } from '@paylog/testing/waitFor'
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
    await server.kill()
    await rm(directory, { recursive: true, force: true })
  })
  return {
    url: `redis://127.0.0.1:${port}`,
    port,
    kill: () => server.kill(),
    async startAnew() {
      const anew = await mkdtemp(join(directory, 'anew-'))
      server = await start(port, anew)
    },
    pause: () => server.signal('SIGSTOP'),
    goOn: () => server.signal('SIGCONT'),
  }
}

async function start(port: number, directory: string) {
  const flags = ['--port', String(port), '--bind', '127.0.0.1', '--appendonly', 'yes', '--dir', directory]
  const child = spawn('redis-server', flags, { stdio: 'ignore' })
  const exited = once(child, 'exit')
  await waitFor(() => answers(port), { what: 'a Redis that answers' })
  return {
    signal: (signal: NodeJS.Signals) => void child.kill(signal),
    async kill() {
      child.kill('SIGKILL')
      await exited
    },
  }
}

async function answers(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  try {
    await once(socket, 'connect')
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}
