// Starts a child process, waits until it is ready, restarts it after a crash, and stops it.
import { type ChildProcess, spawn } from 'node:child_process'
import { setTimeout as pause } from 'node:timers/promises'
import { stopTimeoutMs } from '@paylog/runtime/process/lifecycle'
import type { ChildLog } from './childLog.ts'
import { StartError, type Terminal } from './terminal.ts'

/** Long enough for a slow machine. */
const readyTimeoutMs = 45_000
/** On top of the app's own stop timeout. Then the child is killed. */
const stopGraceMs = 2_000

const firstDelayMs = 200
const longestDelayMs = 5_000
/** After running this long, the next failure starts with the first delay again. */
const healthyMs = 30_000

export type ServiceOptions = {
  readonly name: string
  /** Script and arguments. */
  readonly command: readonly string[]
  readonly environment: NodeJS.ProcessEnv
  readonly log: ChildLog
  readonly terminal: Terminal
  /** Called when the service has a new process. */
  readonly onRestart: () => void
}

export type Service = {
  readonly name: string
  /**
   * The first start, which is not repeated: an immediate failure means bad configuration. Rejects with a StartError.
   */
  readonly ready: Promise<ReadyDetail>
  pid(): number
  /** Stops the service for good. Resolves when its process is gone. */
  stop(): Promise<void>
  kill(): void
}

export type ReadyDetail = Readonly<Record<string, unknown>>

export type Child = {
  readonly pid: number
  /** The child's ready message. Rejects with a StartError when the child exits first. */
  readonly ready: Promise<ReadyDetail>
  /** The signal or exit code, for messages. */
  readonly exited: Promise<string>
  /** Sends SIGTERM, and SIGKILL after the timeout. */
  stop(): Promise<void>
  /** Sends SIGKILL to the child and its own children. */
  kill(): void
}

/**
 * Starts one of our programs. It leads its own process group, so that a terminal's Ctrl-C reaches only the supervisor.
 * It has an IPC channel, which closes when the supervisor is gone.
 */
function startChild(options: {
  readonly name: string
  readonly command: readonly string[]
  readonly environment: NodeJS.ProcessEnv
  readonly log: ChildLog
}): Child {
  const { name, log } = options
  const child = spawn(process.execPath, options.command, {
    env: options.environment,
    detached: true,
    stdio: ['ignore', log.descriptor, log.descriptor, 'ipc'],
  })
  const exited = whenExited(child)
  const ready = whenReady(child, exited, () => `${name}: ${log.lastWarning() ?? 'exited without output'}`)
  // A caller may watch `exited` only.
  ready.catch(() => undefined)
  return {
    pid: child.pid ?? 0,
    ready,
    exited,
    async stop() {
      child.kill('SIGTERM')
      const timer = setTimeout(() => killGroup(child), stopTimeoutMs(options.environment) + stopGraceMs)
      await exited
      clearTimeout(timer)
    },
    kill: () => killGroup(child),
  }
}

function whenExited(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    child.once('error', (error) => resolve(error.message))
    child.once('exit', (code, signal) => resolve(signal ?? `exit code ${code}`))
  })
}

function whenReady(child: ChildProcess, exited: Promise<string>, reason: () => string): Promise<ReadyDetail> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      reject(new StartError(`${reason()} (not ready after ${readyTimeoutMs / 1000} s)`))
      killGroup(child)
    }, readyTimeoutMs)
    child.on('message', (message: ReadyDetail) => {
      if (message.type !== 'ready') return
      clearTimeout(timer)
      resolve(message)
    })
    void exited.then(() => {
      clearTimeout(timer)
      reject(new StartError(reason()))
    })
  })
}

function killGroup(child: ChildProcess): void {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return
  try {
    process.kill(-child.pid, 'SIGKILL')
  } catch {
    // It has just exited.
  }
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
      terminal.print(`  ${name}: exited (${ending}), restarting in ${delayMs / 1000} s`)
      await pause(delayMs, undefined, { signal: stopping.signal }).catch(() => undefined)
      if (stopping.signal.aborted) return
      child = startChild(options)
      options.onRestart()
      announce(child)
    }
  }

  function announce(restarted: Child): void {
    restarted.ready.then(
      () => terminal.print(`  ${name}: restarted (pid ${restarted.pid})`),
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
 * @throws StartError with its last error line when it fails
 */
export async function runOnce(options: Omit<ServiceOptions, 'onRestart' | 'terminal'> & { signal: AbortSignal }) {
  const child = startChild(options)
  const stop = () => void child.stop()
  options.signal.addEventListener('abort', stop)
  const ending = await child.exited
  options.signal.removeEventListener('abort', stop)
  if (ending !== 'exit code 0') {
    throw new StartError(`${options.name}: ${options.log.lastWarning() ?? `exited (${ending})`}`)
  }
}
