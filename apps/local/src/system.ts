// The system as child processes of this one: each started when what it needs is ready, stopped in reverse.
import { join } from 'node:path'
import { withOverrides } from '@paylog/config/environment'
import { type Runtime, removeRuntime } from '@paylog/runtime/process/runtimeFile'
import { type ChildLog, createChildLog } from './childLog.ts'
import { type Service, runOnce, startService } from './part.ts'
import type { PlannedService } from './plan.ts'
import type { Preparation } from './preparation.ts'
import { createRuntimePublisher } from './publisher.ts'
import { StartError } from './startError.ts'
import { silentTerminal, type Terminal } from './terminal.ts'

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
