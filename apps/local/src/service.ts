// One child process: started, known to be ready, stopped.
import { type ChildProcess, spawn } from 'node:child_process'
import { setTimeout as pause } from 'node:timers/promises'
import { stopTimeoutMs } from '@paylog/runtime/process/lifecycle'
import type { ChildLog } from './childLog.ts'
import { StartError, type Terminal } from './terminal.ts'

/** A child that is not ready by then will not be. */
const readyTimeoutMs = 45_000
/** The apps bound their own stop; whoever takes so much longer is stuck. */
const stopGraceMs = 2_000

export type ReadyDetail = Readonly<Record<string, unknown>>

export type Child = {
  readonly pid: number
  /** What the child said about itself when it was ready. Rejects with a StartError when it ended first. */
  readonly ready: Promise<ReadyDetail>
  /** How it ended, in words. */
  readonly exited: Promise<string>
  /** Asks it to stop, and kills it when it does not. */
  stop(): Promise<void>
  /** Ends it and what it started, at once. */
  kill(): void
}

/**
 * Starts a program of ours. It leads a process group of its own, so that a terminal's Ctrl-C reaches the supervisor
 * alone, and it holds an IPC channel, whose end tells it that the supervisor is gone.
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
  const ready = whenReady(child, exited, () => `${name}: ${log.lastWarning() ?? 'ended without a word'}`)
  // Whoever starts a child may learn of its end by `exited` alone.
  ready.catch(() => undefined)
  return {
    pid: child.pid ?? 0,
    ready,
    exited,
    async stop() {
      child.kill('SIGTERM')
      const overdue = setTimeout(() => killGroup(child), stopTimeoutMs(options.environment) + stopGraceMs)
      await exited
      clearTimeout(overdue)
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

function whenReady(child: ChildProcess, exited: Promise<string>, why: () => string): Promise<ReadyDetail> {
  return new Promise((resolve, reject) => {
    const overdue = setTimeout(() => {
      reject(new StartError(`${why()} (not ready after ${readyTimeoutMs / 1000} s)`))
      killGroup(child)
    }, readyTimeoutMs)
    child.on('message', (message: ReadyDetail) => {
      if (message.type !== 'ready') return
      clearTimeout(overdue)
      resolve(message)
    })
    void exited.then(() => {
      clearTimeout(overdue)
      reject(new StartError(why()))
    })
  })
}

function killGroup(child: ChildProcess): void {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return
  try {
    process.kill(-child.pid, 'SIGKILL')
  } catch {
    // It ended in this very moment.
  }
}

// A part of the system that is kept running: started again whenever it ends by itself.

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
    throw new StartError(`${options.name}: ${options.log.lastWarning() ?? `ended (${ending})`}`)
  }
}
