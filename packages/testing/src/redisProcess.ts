// Starts Redis as a process, where it is installed.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { findProgram } from './findProgram.ts'

const readyTimeoutMs = 10_000

export type RedisProcess = {
  readonly url: string
  signal(signal: NodeJS.Signals): void
  /** Resolves when it has ended. */
  stop(signal?: NodeJS.Signals): Promise<void>
}

/** @param path as in the variable PATH @returns the path of `redis-server`, if installed */
export const findRedis = (path?: string): Promise<string | undefined> => findProgram(['redis-server'], path)

/**
 * @param options `isDurable`: stores data on disk, as in production
 * @throws Error when it does not accept connections within ten seconds
 */
export async function startRedisProcess(options: {
  readonly program: string
  readonly port: number
  readonly directory: string
  readonly isDurable: boolean
}): Promise<RedisProcess> {
  const { program, port, directory, isDurable } = options
  const persistence = ['--save', '', '--appendonly', isDurable ? 'yes' : 'no', '--dir', directory]
  const args = ['--port', String(port), '--bind', '127.0.0.1', ...persistence]
  // Without variables, because Redis 7.2 and later do not start with a LANG that the machine does not have.
  const child = spawn(program, args, { env: {}, stdio: 'ignore' })
  const exited = once(child, 'exit')
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null
  const giveUpAt = performance.now() + readyTimeoutMs
  while (!(await acceptsConnections(port))) {
    if (hasEnded() || performance.now() > giveUpAt) {
      child.kill('SIGKILL')
      throw new Error(`${program} did not start on port ${port}`)
    }
    await pause(20)
  }
  return {
    url: `redis://127.0.0.1:${port}`,
    signal: (signal) => void child.kill(signal),
    async stop(signal = 'SIGTERM') {
      if (!hasEnded()) child.kill(signal)
      await exited
    },
  }
}

async function acceptsConnections(port: number): Promise<boolean> {
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
