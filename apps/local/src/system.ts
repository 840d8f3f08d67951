// Writes runtime.json, retries when the disk is full, and reports a full disk on the terminal.

import { randomUUID } from 'node:crypto'
import { rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { withOverrides } from '@paylog/config/environment'
import { type Runtime, removeRuntime, writeRuntime } from '@paylog/runtime/process/runtimeFile'
import { type ChildLog, createChildLog } from './childLog.ts'
import type { PlannedService } from './plan.ts'
import { type Preparation, prepare } from './preparation.ts'
import { runOnce, type Service, startService } from './service.ts'
import { loadSettings, withoutSettings } from './settings.ts'
import { StartError, silentTerminal, type Terminal } from './terminal.ts'

const pollMs = 1_000
const mebibyte = 1024 * 1024
/** Postgres stops when it cannot create its next WAL segment of 16 MiB. Two limits, so that the messages do not flap. */
const fullBelowBytes = 24 * mebibyte
const freeFromBytes = 32 * mebibyte

export type RuntimePublisher = {
  /** Writes what runs now. A failed write is retried every second. */
  publish(): void
  close(): void
}

function createRuntimePublisher(options: {
  readonly directory: string
  readonly runtime: () => Runtime
  readonly terminal: Terminal
}): RuntimePublisher {
  const { directory, runtime, terminal } = options
  let isPublished = true
  let hasProblem = false

  function check(): void {
    const problem = findProblem()
    if (problem !== undefined && !hasProblem)
      terminal.say(`  disk: ${problem}. Writes fail until ${directory} has space; then they go on by themselves.`)
    if (problem === undefined && hasProblem) terminal.say('  disk: there is space again')
    hasProblem = problem !== undefined
  }

  function findProblem(): string | undefined {
    try {
      if (!isPublished) writeRuntime(directory, runtime())
      isPublished = true
      const { bavail, bsize } = statfsSync(directory)
      const freeBytes = bavail * bsize
      const isFull = freeBytes < (hasProblem ? freeFromBytes : fullBelowBytes)
      return isFull ? `${Math.floor(freeBytes / mebibyte)} MiB are left` : undefined
    } catch (error) {
      return error instanceof Error ? error.message : String(error)
    }
  }

  function publish(): void {
    isPublished = false
    check()
  }

  const checking = setInterval(check, pollMs)
  return { publish, close: () => clearInterval(checking) }
}

// The system as child processes of this one: each started when what it needs is ready, stopped in reverse.

export type System = {
  /** Resolves when every part is ready; rejects with a StartError when one cannot be, or when the system was stopped. */
  start(): Promise<void>
  /** What runs now. */
  runtime(): Runtime
  /** Stops the parts in the reverse order of their start and gives the data directory back. */
  stop(): Promise<void>
  /** Ends every part at once. */
  kill(): void
}

/** @param options `inherited` is the environment that every part gets, the operator's own variables included */
export function createSystem(options: {
  readonly preparation: Preparation
  readonly inherited: NodeJS.ProcessEnv
  readonly terminal: Terminal
}): System {
  const { preparation, terminal } = options
  const { directory } = preparation
  const environment: Record<string, string> = { ...preparation.environment }
  const startedAt = new Date().toISOString()
  const stopping = new AbortController()
  const running = new Map<string, Service>()
  const logs: ChildLog[] = []
  const runs: Promise<void>[] = []

  function runtime(): Runtime {
    const parts = preparation.plan.flatMap(({ name, address }) => {
      const part = running.get(name)
      return part ? [{ name, pid: part.pid(), address }] : []
    })
    return { pid: process.pid, started_at: startedAt, base_url: preparation.baseUrl, environment, parts }
  }

  const { publish, close: stopPublishing } = createRuntimePublisher({ directory, runtime, terminal })

  async function startPlanned(planned: PlannedService): Promise<void> {
    if (stopping.signal.aborted) throw new StartError('The start was interrupted.')
    const { name, command } = planned
    // What a program that runs to its end prints is its answer, no complaint.
    const logTerminal = planned.once ? silentTerminal : terminal
    const log = createChildLog({ directory: join(directory, 'logs'), name, terminal: logTerminal })
    logs.push(log)
    const own = withOverrides(options.inherited, { ...environment, ...planned.environment })
    if (planned.once) {
      const run = runOnce({ name, command, environment: own, log, signal: stopping.signal })
      runs.push(run)
      return run
    }
    const part = startService({ name, command, environment: own, log, terminal, onRestart: publish })
    running.set(name, part)
    publish()
    const { databaseUrl } = await part.ready
    if (typeof databaseUrl === 'string') environment.DATABASE_URL = databaseUrl
  }

  return {
    runtime,
    async start() {
      publish()
      const starts = new Map<string, Promise<void>>()
      for (const planned of preparation.plan) {
        const needed = planned.after.map((name) => starts.get(name))
        starts.set(
          planned.name,
          Promise.all(needed).then(() => startPlanned(planned)),
        )
      }
      await Promise.all(starts.values())
      publish()
    },
    async stop() {
      stopping.abort()
      await Promise.allSettled(runs)
      for (const { name } of preparation.plan.toReversed()) await running.get(name)?.stop()
      for (const log of logs) log.close()
      stopPublishing()
      removeRuntime(directory)
      preparation.unlock()
    },
    kill() {
      stopping.abort()
      for (const part of running.values()) part.kill()
    },
  }
}

// A system of its own on free ports and temporary data, for whoever needs one for a while.

export type PrivateSystem = {
  /** When it does not start, too, there is something to stop. */
  start(): Promise<Runtime>
  /** Stops everything and deletes the data. */
  stop(): Promise<void>
}

/**
 * @param given the surroundings; whatever they set up for a real system is not for this one
 * @param settings variables for this one
 */
export async function createPrivateSystem(
  given: NodeJS.ProcessEnv,
  settings: Readonly<Record<string, string>>,
): Promise<PrivateSystem> {
  const directory = join(tmpdir(), `paylog-${randomUUID()}`)
  const environment = { ...withoutSettings(given), DATA_DIR: directory, PORT: '0', ...settings }
  const preparation = await prepare(loadSettings(environment), environment)
  const system = createSystem({ preparation, inherited: environment, terminal: silentTerminal })
  return {
    async start() {
      await system.start()
      return system.runtime()
    },
    async stop() {
      await system.stop()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}
