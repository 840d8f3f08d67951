// `streams read`: the events of one stream, in order.
import type { Recorded } from '@paylog/event-store/codec'
import { createEventStore, type EventStore } from '@paylog/event-store/eventStore'
import { loadConfig, url } from '@paylog/runtime/config'
import { Type } from 'typebox'
import { type Command, OpsError, readArguments, readCount } from '../command.ts'

/** Read at once; a long stream is shown page by page. */
const pageSize = 500

export const streamsRead: Command = {
  name: 'streams read',
  usage: 'STREAM [--from N] [--limit N] [--json]',
  summary: 'Show the events of a stream, one JSON object per line with --json',
  async run(args, { environment, print }) {
    const { values, positionals } = readArguments(args, ['STREAM'], {
      from: { type: 'string' },
      limit: { type: 'string' },
      json: { type: 'boolean' },
    })
    const [stream] = positionals
    const from = readCount('--from', values.from, 0) ?? 0
    const limit = readCount('--limit', values.limit, 1) ?? Number.POSITIVE_INFINITY
    const { EVENTSTORE_URL } = loadConfig(Type.Object({ EVENTSTORE_URL: url(['esdb', 'esdb+discover']) }), environment)
    const store = createEventStore({ connectionString: EVENTSTORE_URL })
    try {
      let shown = 0
      for await (const event of eventsOf(store, stream, BigInt(from), limit)) {
        await print(values.json ? JSON.stringify(eventJson(event)) : eventText(event))
        shown++
      }
      if (shown === 0)
        throw new OpsError(`There are no events in ${stream}${from > 0 ? ` from revision ${from}` : ''}.`)
    } finally {
      await store.close()
    }
  },
}

async function* eventsOf(store: EventStore, stream: string, from: bigint, limit: number) {
  let next = from
  for (let left = limit; left > 0; ) {
    const wanted = Math.min(left, pageSize)
    const page = await store.readStream(stream, { from: next, limit: wanted })
    yield* page
    if (page.length < wanted) return
    left -= page.length
    next += BigInt(page.length)
  }
}

/** An event as machines read it: whole, positions and revisions as decimal strings. */
export function eventJson(event: Recorded) {
  const { id, stream, revision, position, type, created, data, metadata } = event
  return {
    id,
    stream,
    revision: revision.toString(),
    position: position.commit.toString(),
    type,
    created: created.toISOString(),
    data,
    metadata,
  }
}

function eventText({ revision, type, created, data, metadata }: Recorded): string {
  const width = Math.max(...Object.keys(data).map((key) => key.length))
  const facts = Object.entries(data).map(([key, value]) => `    ${key.padEnd(width)}  ${JSON.stringify(value)}`)
  return [`${revision}  ${type}  ${created.toISOString()}  by ${metadata.actor}`, ...facts].join('\n')
}
