// A part of the system that is kept running: started again whenever it ends by itself.
import { setTimeout as pause } from 'node:timers/promises'
import { type Child, type ReadyDetail, startChild } from './child.ts'
import type { ChildLog } from './childLog.ts'
import { StartError } from './startError.ts'
import type { Terminal } from './terminal.ts'

const firstDelayMs = 200
const longestDelayMs = 5_000
/** A part that ran this long was healthy: its next failure is a new one. */
const healthyMs = 30_000

export type ServiceOptions = {
  readonly name: string
  /** Script and arguments. */
  readonly command: readonly string[]
  readonly environment: NodeJS.ProcessEnv
  readonly log: ChildLog
  readonly terminal: Terminal
  /** Told whenever the part has another process. */
  readonly onRestart: () => void
}

export type Service = {
  readonly name: string
  /** Of the first start, which is not repeated: what fails at once is badly set up. Rejects with a StartError. */
  readonly ready: Promise<ReadyDetail>
  pid(): number
  /** Stops it for good; resolves when its process is gone. */
  stop(): Promise<void>
  kill(): void
}

export function startService(options: ServiceOptions): Service {
  const { name, terminal } = options
  const stopping = new AbortController()
  let child = startChild(options)
  const { ready } = child
  const supervision = ready.then(
    () => keepRunning(),
    () => undefined,
  )

  async function keepRunning(): Promise<void> {
    let failures = 0
    for (;;) {
      const startedAt = performance.now()
      const ending = await child.exited
      if (stopping.signal.aborted) return
      failures = performance.now() - startedAt > healthyMs ? 1 : failures + 1
      const delayMs = Math.min(firstDelayMs * 2 ** (failures - 1), longestDelayMs)
      terminal.say(`  ${name}: ended (${ending}), starts again in ${delayMs / 1000} s`)
      await pause(delayMs, undefined, { signal: stopping.signal }).catch(() => undefined)
      if (stopping.signal.aborted) return
      child = startChild(options)
      options.onRestart()
      announce(child)
    }
  }

  function announce(restarted: Child): void {
    restarted.ready.then(
      () => terminal.say(`  ${name}: runs again (pid ${restarted.pid})`),
      () => undefined,
    )
  }

  return {
    name,
    ready,
    pid: () => child.pid,
    async stop() {
      stopping.abort()
      await child.stop()
      await supervision
    },
    kill() {
      stopping.abort()
      child.kill()
    },
  }
}

/**
 * Runs a program to its end.
 * @throws StartError with its last complaint when it fails
 */
export async function runOnce(options: Omit<ServiceOptions, 'onRestart' | 'terminal'> & { signal: AbortSignal }) {
  const child = startChild(options)
  const stop = () => void child.stop()
  options.signal.addEventListener('abort', stop)
  const ending = await child.exited
  options.signal.removeEventListener('abort', stop)
  if (ending !== 'exit code 0') {
    throw new StartError(`${options.name}: ${options.log.lastComplaint() ?? `ended (${ending})`}`)
  }
}
