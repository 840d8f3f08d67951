// Runs the system as child processes and keeps runtime.json up to date.
import { randomUUID } from 'node:crypto'
import { rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { withOverrides } from '@paylog/runtime/config/environment'
import { type Runtime, removeRuntime, writeRuntime } from '@paylog/runtime/process/runtimeFile'
import { type ChildLog, createChildLog } from './childLog.ts'
import type { PlannedService } from './plan.ts'
import { type Preparation, prepare } from './preparation.ts'
import { runOnce, type Service, startService } from './service.ts'
import { environmentOf, loadSettings, withoutSettings } from './settings.ts'
import { StartError, silentTerminal, type Terminal } from './terminal.ts'

const pollMs = 1_000
const mebibyte = 1024 * 1024
/**
 * Postgres stops when it cannot create its next WAL segment of 16 MiB. The two limits keep the messages from flapping.
 */
const fullBelowBytes = 24 * mebibyte
const freeFromBytes = 32 * mebibyte

export type System = {
  /** Resolves when every process is ready. Rejects with a StartError when one cannot start, or after `stop`. */
  start(): Promise<void>
  /** The content of runtime.json. */
  runtime(): Runtime
  /** Stops the processes in reverse start order and unlocks the data directory. */
  stop(): Promise<void>
  /** Kills every process at once. */
  kill(): void
}

/**
 * Each process starts when the ones it needs are ready.
 * @param options `inherited` is the operator's environment, of which each process gets what it needs
 */
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
      const service = running.get(name)
      return service ? [{ name, pid: service.pid(), address }] : []
    })
    return { pid: process.pid, started_at: startedAt, base_url: preparation.baseUrl, environment, parts }
  }

  const { publish, close: stopPublishing } = createRuntimePublisher({ directory, runtime, terminal })

  async function startPlanned(planned: PlannedService): Promise<void> {
    if (stopping.signal.aborted) throw new StartError('The start was interrupted.')
    const { name, command } = planned
    // The output of a program that runs once is its result, not a warning.
    const logTerminal = planned.once ? silentTerminal : terminal
    const log = createChildLog({ directory: join(directory, 'logs'), name, terminal: logTerminal })
    logs.push(log)
    const shared = environmentOf(name, withOverrides(options.inherited, environment))
    const serviceEnvironment = withOverrides(shared, planned.environment)
    if (planned.once) {
      const run = runOnce({ name, command, environment: serviceEnvironment, log, signal: stopping.signal })
      runs.push(run)
      return run
    }
    const service = startService({ name, command, environment: serviceEnvironment, log, terminal, onRestart: publish })
    running.set(name, service)
    publish()
    const { databaseUrl } = await service.ready
    if (typeof databaseUrl !== 'string') return
    environment.DATABASE_URL = databaseUrl
    environment.SANDBOX_DATABASE_URL ??= databaseUrl
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
      for (const service of running.values()) service.kill()
    },
  }
}

export type PrivateSystem = {
  /** Call `stop` also when this rejects. */
  start(): Promise<Runtime>
  /** Stops everything and deletes the data. */
  stop(): Promise<void>
}

/**
 * A system on free ports with temporary data.
 * @param given the caller's environment, whose settings are ignored
 * @param settings variables of the private system
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

type RuntimePublisher = {
  /** Writes the running processes to runtime.json. A failed write is retried every second. */
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
      terminal.print(`  disk: ${problem}. Writes fail until ${directory} has space, then they resume.`)
    if (problem === undefined && hasProblem) terminal.print('  disk: space is available again')
    hasProblem = problem !== undefined
  }

  function findProblem(): string | undefined {
    try {
      if (!isPublished) writeRuntime(directory, runtime())
      isPublished = true
      const { bavail, bsize } = statfsSync(directory)
      const freeBytes = bavail * bsize
      const isFull = freeBytes < (hasProblem ? freeFromBytes : fullBelowBytes)
      return isFull ? `${Math.floor(freeBytes / mebibyte)} MiB are free` : undefined
    } catch (error) {
      return error instanceof Error ? error.message : String(error)
    }
  }

  function publish(): void {
    isPublished = false
    check()
  }

  const timer = setInterval(check, pollMs)
  return { publish, close: () => clearInterval(timer) }
}
