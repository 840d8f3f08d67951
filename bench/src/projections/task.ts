// Runs a task in a separate process and measures time, CPU and memory there, in the event store and in Postgres.

import { type Static, Type } from 'typebox'
import { Value } from 'typebox/value'
import type { PrivateServer } from '../event-store/privateServer.ts'
import { startBenchmarkProgram } from '../harness/program.ts'
import { cpuMicros, cpuMicrosOfAll } from '../harness/usage.ts'

export type Task = 'read' | 'live' | 'rebuild'

/** The report of the process. */
export const TaskResult = Type.Object({
  events: Type.Integer(),
  ms: Type.Number(),
  cpuMicros: Type.Number(),
  peakMiB: Type.Number(),
  /** Duration of each phase of a rebuild, in milliseconds. */
  phases: Type.Record(Type.String(), Type.Number()),
})
export type TaskResult = Static<typeof TaskResult>

export type MeasuredTask = TaskResult & {
  readonly server: { readonly cpuMicros: number; readonly peakMiB: number }
  readonly postgres: { readonly cpuMicros: number }
}

/** @param server measured as well, with its Postgres */
export async function run(task: Task, events: number, server: PrivateServer): Promise<MeasuredTask> {
  const { postgres, connectionString } = server
  const before = { server: cpuMicros(server.pid()), postgres: cpuMicrosOfAll(postgres.pid) }
  const env = { DATABASE_URL: postgres.databaseUrl, EVENTSTORE_URL: connectionString }
  await using stack = new AsyncDisposableStack()
  const { readyMessage: result } = await startBenchmarkProgram(import.meta.resolve('./program.ts'), {
    env: { ...env, TASK: task, EVENTS: String(events) },
    stack,
  })
  return {
    ...Value.Parse(TaskResult, result),
    server: { cpuMicros: cpuMicros(server.pid()) - before.server, peakMiB: server.peakMiB() },
    postgres: { cpuMicros: cpuMicrosOfAll(postgres.pid) - before.postgres },
  }
}
