// Runs a task in a separate process and measures what it takes there, in the event store and in Postgres.

import { type Static, Type } from 'typebox'
import { Value } from 'typebox/value'
import type { PrivateServer } from '../event-store/privateNode.ts'
import { startBenchmarkProgram } from '../harness/program.ts'
import { cpuMicros, cpuMicrosOfAll } from '../harness/usage.ts'

export type Task = 'read' | 'live' | 'rebuild'

/** What the process reports. */
export const Took = Type.Object({
  events: Type.Integer(),
  ms: Type.Number(),
  cpuMicros: Type.Number(),
  peakMiB: Type.Number(),
  /** Duration of each phase of a rebuild, in milliseconds. */
  phases: Type.Record(Type.String(), Type.Number()),
})
export type Took = Static<typeof Took>

export type TookBeside = Took & {
  readonly node: { readonly cpuMicros: number; readonly peakMiB: number }
  readonly postgres: { readonly cpuMicros: number }
}

/** @param node measured as well, with its Postgres */
export async function run(task: Task, events: number, node: PrivateServer): Promise<TookBeside> {
  const { postgres, connectionString } = node
  const before = { node: cpuMicros(node.pid()), postgres: cpuMicrosOfAll(postgres.pid) }
  const env = { DATABASE_URL: postgres.databaseUrl, EVENTSTORE_URL: connectionString }
  await using stack = new AsyncDisposableStack()
  const { readyMessage: result } = await startBenchmarkProgram(import.meta.resolve('./program.ts'), {
    env: { ...env, TASK: task, EVENTS: String(events) },
    stack,
  })
  return {
    ...Value.Parse(Took, result),
    node: { cpuMicros: cpuMicros(node.pid()) - before.node, peakMiB: node.peakMiB() },
    postgres: { cpuMicros: cpuMicrosOfAll(postgres.pid) - before.postgres },
  }
}
