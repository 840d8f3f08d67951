// Measures a long log: memory of the event store, read throughput, and start-up time.
import type { EventStoreDBClient } from '@eventstore/db-client'
import { type BenchmarkRow, formatNumber, median, type Print } from '../harness/benchmark.ts'
import { fillLog } from './appends.ts'
import type { BareTable } from './bareTable.ts'
import type { PrivateServer } from './privateServer.ts'
import { catchUp, type ReadRate, readWholeLog } from './reads.ts'

const minReads = 20_000
/** Memory should be constant. This is the accepted growth. */
const maxGrowthMiB = 64
/** Start-up time should not depend on the length of the log. This is the accepted ratio. */
const maxStartRatio = 1.25
export const memorySamples = 10
const starts = 3

export type Measured = {
  readonly client: EventStoreDBClient
  /** Undefined for an external server. */
  readonly server: PrivateServer | undefined
  readonly bare: BareTable
  readonly print: Print
}

/** Appends this many events, then reads them in three ways. */
export async function wholeLog({ client, server, bare, print }: Measured, events: number): Promise<BenchmarkRow[]> {
  const memory: number[] = []
  const sample = () => {
    if (server !== undefined) memory.push(Math.round(server.memoryMiB()))
  }
  for (let part = 0; part < memorySamples; part += 1) {
    await fillLog(client, Math.ceil(events / memorySamples))
    sample()
  }
  const read = await readWholeLog(client, events)
  const all = await catchUp(client, events, [''])
  const filtered = await catchUp(client, events, ['bench-'])
  sample()
  const selected = server === undefined ? undefined : await bare.selectLog(events)
  const rows = [
    readRow('events read from $all', read, selected),
    readRow('events of a subscription that catches up', all, selected),
    readRow('the same, filtered by a prefix', filtered, selected),
  ]
  const [first, last] = [memory[0], memory.at(-1)]
  if (first === undefined || last === undefined) return rows
  print(
    `memory of the event store in MiB, every tenth of ${formatNumber(events)} events written, then read and caught up:`,
  )
  print(`  ${memory.join(' ')}`)
  const name = `memory of the event store after ${formatNumber(events)} events more`
  const bound = { name: 'after the first tenth of them', figure: first }
  return [...rows, { name, figure: last, unit: 'MiB', bound, target: { of: 'difference', atMost: maxGrowthMiB } }]
}

function readRow(name: string, { perSecond }: ReadRate, selected: ReadRate | undefined): BenchmarkRow {
  const row = { name, figure: perSecond, unit: '/s', target: { of: 'figure', atLeast: minReads } } as const
  return selected === undefined
    ? row
    : { ...row, bound: { name: 'SELECT of the same rows', figure: selected.perSecond } }
}

/** The median of several starts, in milliseconds. */
export async function startOf(server: PrivateServer): Promise<number> {
  const times: number[] = []
  for (let start = 0; start < starts; start += 1) times.push(await server.restart())
  return median(times)
}

/** @param emptyMs start-up time on an empty log */
export async function startRow(server: PrivateServer, events: number, emptyMs: number): Promise<BenchmarkRow> {
  return {
    name: `start on ${formatNumber(events)} events`,
    figure: await startOf(server),
    unit: 'ms',
    bound: { name: 'on an empty log', figure: emptyMs },
    target: { of: 'ratio', atMost: maxStartRatio },
  }
}
