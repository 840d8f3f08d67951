// From the log to the rows as in production, in a separate process beside event store and Postgres.

import type { Pool } from 'pg'
import type { PrivateServer } from '../event-store/privateServer.ts'
import { type BenchmarkRow, formatNumber, type Print } from '../harness/benchmark.ts'
import { type MeasuredTask, run, type Task } from './task.ts'

/** The servers beside the measured process. */
export type Servers = { readonly server: PrivateServer; readonly pool: Pool }

const minPerSecond = 12_000
const maxGrowthMiB = 64

export type EndToEnd = {
  readonly events: number
  readonly read: MeasuredTask
  readonly live: MeasuredTask
  /** The rebuild with the median time. */
  readonly rebuilt: MeasuredTask
}

/**
 * Reads the log with the bare client, lets the projector apply it, then rebuilds. The event store is restarted before
 * each, so that peak memory is comparable.
 */
export async function measureEndToEnd(
  { server, pool }: Servers,
  { events, rebuilds }: { readonly events: number; readonly rebuilds: number },
  print: Print,
): Promise<EndToEnd> {
  print(`end to end, ${formatNumber(events)} events`)
  const measure = async (task: Task, name: string) => {
    await server.restart()
    await pool.query('checkpoint')
    const result = await run(task, events, server)
    if (result.events !== events) throw new Error(`The ${name} saw ${result.events} events`)
    print(resultLine(name, result))
    return result
  }
  const read = await measure('read', 'client alone')
  const live = await measure('live', 'projector')
  const rebuilt: MeasuredTask[] = []
  for (let round = 0; round < rebuilds; round += 1) rebuilt.push(await measure('rebuild', 'rebuild'))
  const middle = rebuilt.toSorted((a, b) => a.ms - b.ms)[Math.floor(rebuilt.length / 2)]
  if (middle === undefined) throw new Error('Nothing was rebuilt')
  return { events, read, live, rebuilt: middle }
}

/** @param copyMsPerEvent time of a COPY of the resulting rows, per event */
export function speedRows({ events, read, live, rebuilt }: EndToEnd, copyMsPerEvent: number): BenchmarkRow[] {
  const minimumMs = read.ms + copyMsPerEvent * events
  const bound = { name: 'the client alone, then COPY of the rows', figure: perSecond({ events, ms: minimumMs }) }
  const target = { of: 'figure', atLeast: minPerSecond } as const
  return [
    { name: `events of a rebuild of ${formatNumber(events)}`, figure: perSecond(rebuilt), unit: '/s', bound, target },
    {
      name: `events of a projector that catches up on ${formatNumber(events)}`,
      figure: perSecond(live),
      unit: '/s',
      bound,
    },
  ]
}

/** Growth of peak memory from the smallest to the largest log. */
export function memoryRows(measured: readonly EndToEnd[]): BenchmarkRow[] {
  const [first, last] = [measured[0], measured.at(-1)]
  if (first === undefined || last === undefined || first === last) return []
  const row = (whose: string, peakMiB: (of: EndToEnd) => number): BenchmarkRow => ({
    name: `peak of ${whose} for ${formatNumber(last.events)} events`,
    figure: peakMiB(last),
    unit: 'MiB',
    bound: { name: `for ${formatNumber(first.events)}`, figure: peakMiB(first) },
    target: { of: 'difference', atMost: maxGrowthMiB },
  })
  return [
    row('a rebuild', ({ rebuilt }) => rebuilt.peakMiB),
    row('its event store', ({ rebuilt }) => rebuilt.server.peakMiB),
  ]
}

const perSecond = ({ events, ms }: Pick<MeasuredTask, 'events' | 'ms'>) => (events * 1_000) / ms

/** Speed, CPU time per event of each process, and memory. */
function resultLine(name: string, result: MeasuredTask): string {
  const { events, server, postgres, phases } = result
  const micros = [result.cpuMicros, server.cpuMicros, postgres.cpuMicros].map((spent) => (spent / events).toFixed(1))
  const each = Object.entries(phases).map(([phase, ms]) => `${phase} ${(ms / 1_000).toFixed(2)} s`)
  return [
    `  ${name.padEnd(18)}${formatNumber(perSecond(result)).padStart(8)} events/s in ${(result.ms / 1_000).toFixed(1)} s`,
    `CPU µs/event: process ${micros[0]}, event store ${micros[1]}, Postgres ${micros[2]}`,
    `peak MiB: process ${formatNumber(result.peakMiB)}, event store ${formatNumber(server.peakMiB)}`,
    ...(each.length > 0 ? [each.join(', ')] : []),
  ].join('; ')
}
