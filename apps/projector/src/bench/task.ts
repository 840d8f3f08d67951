// Has something done by a process of its own, and tells what that took of it and of everybody beside it.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { type Static, Type } from 'typebox'
import { Value } from 'typebox/value'
import { cpuMicros, cpuMicrosOfAll, peakMiB } from './usage.ts'

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

/** @param servers whose processes are watched */
export async function run(
  task: Task,
  events: number,
  servers: {
    readonly env: Readonly<Record<string, string>>
    readonly nodePid: number
    readonly postgresPid: number
  },
): Promise<TookBeside> {
  const { env, nodePid, postgresPid } = servers
  const before = { node: cpuMicros(nodePid), postgres: cpuMicrosOfAll(postgresPid) }
  const child = spawn(
    process.execPath,
    [...process.execArgv, fileURLToPath(new URL('./program.ts', import.meta.url))],
    {
      env: { ...env, TASK: task, EVENTS: String(events) },
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    },
  )
  const exited = once(child, 'exit')
  const failed = exited.then(([code]) => {
    throw new Error(`To ${task} ended with ${code}`)
  })
  failed.catch(() => undefined)
  const [message] = await Promise.race([once(child, 'message'), failed])
  await exited
  return {
    ...Value.Parse(Took, message),
    node: { cpuMicros: cpuMicros(nodePid) - before.node, peakMiB: peakMiB(nodePid) },
    postgres: { cpuMicros: cpuMicrosOfAll(postgresPid) - before.postgres },
  }
}
