// `npm run bench -- event-store`: how fast the log takes events and gives them back, client included.
import { cpus } from 'node:os'
import { parseArgs } from 'node:util'
import { EventStoreDBClient } from '@eventstore/db-client'
import { type AppendRate, fillLog, measureAppends } from './appends.ts'
import { type PrivateNode, startPrivateNode } from './privateNode.ts'
import { catchUp, readWholeLog } from './reads.ts'

type Say = (text: string) => void

const inFlight = [1, 16, 64, 256]
const memorySamples = 10

/**
 * Measures a private node, or with `--url esdb://…` any server: appends at several depths for `--seconds` (5) each, then a
 * log of `--events` events (a million): memory while it grows, reading it, catching up on it, starting on it.
 * @throws Error for options that make no sense
 */
export async function eventStore(args: readonly string[], say: Say): Promise<void> {
  const { url, events, seconds } = optionsOf(args)
  const node = url === undefined ? await startPrivateNode() : undefined
  const client = EventStoreDBClient.connectionString(url ?? node?.connectionString ?? '')
  try {
    say(`${cpus().length} cores, ${cpus()[0]?.model ?? 'unknown'}, Node ${process.version}`)
    say(node === undefined ? 'a server that runs already' : `a node of its own on Postgres with ${node.settings}`)
    const startedEmpty = await node?.restart()
    await appends(client, seconds * 1_000, say)
    await wholeLog(client, node, events, say)
    const startedFull = await node?.restart()
    if (startedEmpty !== undefined && startedFull !== undefined) {
      say(`start on an empty log ${startedEmpty.toFixed(0)} ms, on this one ${startedFull.toFixed(0)} ms`)
    }
  } finally {
    await client.dispose()
    await node?.stop()
  }
}

function optionsOf(args: readonly string[]) {
  const { values } = parseArgs({
    args: [...args],
    options: {
      url: { type: 'string' },
      events: { type: 'string', default: '1000000' },
      seconds: { type: 'string', default: '5' },
    },
  })
  const events = Number(values.events)
  const seconds = Number(values.seconds)
  if (!Number.isInteger(events) || events < memorySamples) throw new Error(`--events is at least ${memorySamples}`)
  if (!(seconds > 0)) throw new Error('--seconds is a number above 0')
  return { url: values.url, events, seconds }
}

async function appends(client: EventStoreDBClient, durationMs: number, say: Say): Promise<void> {
  say('appends of one event of 400 bytes, each to a new stream')
  await measureAppends(client, { inFlight: 64, durationMs: durationMs / 2 })
  for (const depth of inFlight) {
    const { perSecond, p50Ms, p99Ms }: AppendRate = await measureAppends(client, { inFlight: depth, durationMs })
    say(
      `  ${String(depth).padStart(3)} in flight ${count(perSecond)}/s, p50 ${p50Ms.toFixed(1)} ms, p99 ${p99Ms.toFixed(1)} ms`,
    )
  }
}

async function wholeLog(
  client: EventStoreDBClient,
  node: PrivateNode | undefined,
  events: number,
  say: Say,
): Promise<void> {
  const memory: number[] = []
  const sample = () => {
    if (node !== undefined) memory.push(Math.round(node.memoryMiB()))
  }
  sample()
  for (let part = 0; part < memorySamples; part += 1) {
    await fillLog(client, Math.ceil(events / memorySamples))
    sample()
  }
  const read = await readWholeLog(client, events)
  say(`readAll ${count(read.perSecond)} events/s (${read.events} events)`)
  sample()
  const all = await catchUp(client, events, [''])
  say(`catch-up of everything ${count(all.perSecond)} events/s`)
  const filtered = await catchUp(client, events, ['bench-'])
  say(`catch-up filtered by prefix ${count(filtered.perSecond)} events/s`)
  sample()
  if (node !== undefined) {
    say(`memory of the node in MiB, every tenth of ${events} events written, then read, then caught up:`)
    say(`  ${memory.join(' ')}`)
  }
}

function count(value: number): string {
  return Math.round(value).toLocaleString('en').padStart(7)
}
