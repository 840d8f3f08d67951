// One child process: started, known to be ready, stopped.
import { type ChildProcess, spawn } from 'node:child_process'
import { stopTimeoutMs } from '@paylog/runtime/process/lifecycle'
import type { ChildLog } from './childLog.ts'
import { StartError } from './startError.ts'

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
export function startChild(options: {
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
