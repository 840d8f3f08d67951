// From the log to the rows, as operators do it, in a process of its own with the node and Postgres beside.
import type { PrivateNode } from '@paylog/event-store-node/bench/privateNode'
import type { Pool } from 'pg'
import { figureLine, number, perSecond, tookLine } from './report.ts'
import { run, type Task, type TookBeside } from './task.ts'
import { parentOf } from './usage.ts'

/** What is there beside the process that is measured. */
export type Beside = { readonly node: PrivateNode; readonly pool: Pool }

type Say = (text: string) => void

const wanted = { perSecond: 12_000, growthMiB: 64 }

/**
 * Reads the log by the bare client, has the projector apply it, then rebuilds: every time with a node that has just begun,
 * for a peak of its own.
 * @returns of the rebuilds the median
 */
export async function measureEndToEnd(
  { node, pool }: Beside,
  { events, rebuilds }: { readonly events: number; readonly rebuilds: number },
  say: Say,
): Promise<TookBeside> {
  say(`end to end, ${number(events)} events`)
  const env = { DATABASE_URL: node.databaseUrl, EVENTSTORE_URL: node.connectionString }
  const measure = async (task: Task, name: string) => {
    await node.restart()
    await pool.query('checkpoint')
    const took = await run(task, events, { env, nodePid: node.pid(), postgresPid: await postgresPid(pool) })
    if (took.events !== events) throw new Error(`The ${name} met ${took.events} events`)
    say(tookLine(name, took))
    return took
  }
  const read = await measure('read', 'client alone')
  await measure('live', 'projector')
  const rebuilt: TookBeside[] = []
  for (let round = 0; round < rebuilds; round += 1) rebuilt.push(await measure('rebuild', 'rebuild'))
  const middle = rebuilt.toSorted((a, b) => a.ms - b.ms)[Math.floor(rebuilt.length / 2)]
  if (middle === undefined) throw new Error('Nothing was rebuilt')
  say(`  time of the client alone by that of the rebuild ${(read.ms / middle.ms).toFixed(2)}`)
  return middle
}

export function saySpeed(rebuilt: readonly TookBeside[], say: Say): void {
  for (const took of rebuilt) {
    const name = `events/s of a rebuild of ${number(took.events)}`
    say(figureLine({ name, measured: perSecond(took), target: wanted.perSecond, better: 'higher' }))
  }
}

/** How much more is needed for the largest log than for the smallest. */
export function sayMemory(rebuilt: readonly TookBeside[], say: Say): void {
  const [first, last] = [rebuilt[0], rebuilt.at(-1)]
  if (first === undefined || last === undefined || first === last) return
  const growths = [
    { whose: 'the rebuild', measured: last.peakMiB - first.peakMiB },
    { whose: 'the node', measured: last.node.peakMiB - first.node.peakMiB },
  ]
  for (const { whose, measured } of growths) {
    const name = `MiB more that ${whose} needs at its peak for ${number(last.events)} events than for ${number(first.events)}`
    say(figureLine({ name, measured, target: wanted.growthMiB, better: 'lower' }))
  }
}

async function postgresPid(pool: Pool): Promise<number> {
  const { rows } = await pool.query<{ pid: number }>('select pg_backend_pid() as pid')
  return parentOf(rows[0]?.pid ?? 0)
}
