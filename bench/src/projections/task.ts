// Has something done by a process of its own, and tells what that took of it and of everybody beside it.

import { type Static, Type } from 'typebox'
import { Value } from 'typebox/value'
import type { PrivateServer } from '../event-store/privateNode.ts'
import { startBenchmarkProgram } from '../harness/program.ts'
import { cpuMicros, cpuMicrosOfAll } from '../harness/usage.ts'

export type Task = 'read' | 'live' | 'rebuild'

/** What a process tells of itself. */
export const Took = Type.Object({
  events: Type.Integer(),
  ms: Type.Number(),
  cpuMicros: Type.Number(),
  peakMiB: Type.Number(),
  /** How long each phase of a rebuild took, in milliseconds. */
  phases: Type.Record(Type.String(), Type.Number()),
})
export type Took = Static<typeof Took>

export type TookBeside = Took & {
  readonly node: { readonly cpuMicros: number; readonly peakMiB: number }
  readonly postgres: { readonly cpuMicros: number }
}

/** @param node which is watched meanwhile, and its Postgres */
export async function run(task: Task, events: number, node: PrivateServer): Promise<TookBeside> {
  const { postgres, connectionString } = node
  const before = { node: cpuMicros(node.pid()), postgres: cpuMicrosOfAll(postgres.pid) }
  const env = { DATABASE_URL: postgres.databaseUrl, EVENTSTORE_URL: connectionString }
  await using stack = new AsyncDisposableStack()
  const { readyMessage: said } = await startBenchmarkProgram(import.meta.resolve('./program.ts'), {
    env: { ...env, TASK: task, EVENTS: String(events) },
    stack,
  })
  return {
    ...Value.Parse(Took, said),
    node: { cpuMicros: cpuMicros(node.pid()) - before.node, peakMiB: node.peakMiB() },
    postgres: { cpuMicros: cpuMicrosOfAll(postgres.pid) - before.postgres },
  }
}
