// `streams read`: prints the events of one stream.
import type { Writable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import { type Codec, domainCodec } from '@paylog/event-store/codec/codec'
import { tryDecode } from '@paylog/event-store/codec/decoder'
import type { RawClient } from '@paylog/event-store/connection/calls'
import { exportLine } from '@paylog/event-store/export/exportLine'
import type { RawEvent } from '@paylog/event-store/read/rawEvent'
import { readStreamPage } from '@paylog/event-store/read/reads'
import { OpsError } from '../command.ts'
import { defineCommand } from '../defineCommand.ts'
import { count, withDefault } from '../options.ts'

/** Longer streams are read in pages. */
const pageSize = 500

export const streamsRead = defineCommand({
  summary: 'Show the events of a stream, one JSON object per line with --json',
  args: ['STREAM'],
  options: {
    from: withDefault(count('N', 'the first revision', { min: 0 }), 0),
    limit: count('N', 'at most this many events'),
  },
  audited: 'reason',
  json: 'one JSON object per event',
  about: [
    'Events are shown as recorded; with --json like the lines of an export. An event that this program cannot decode is',
    'shown with the reason.',
  ],
  async run({ args: [stream], options, isJson, print, output, open, audit }) {
    const { from, limit = Number.POSITIVE_INFINITY } = options
    const readers = createReaders(output)
    const log = await open.rawLog()
    let shown = 0
    for await (const event of eventsOf(log, stream, BigInt(from), limit)) {
      if (shown === 0) await audit({ action: 'read_stream', target: { kind: 'stream', id: stream } })
      await print(isJson ? eventJson(event) : eventText(event))
      shown++
      if (await readers.areGone()) break
    }
    if (shown === 0) throw new OpsError(`There are no events in ${stream}${from > 0 ? ` from revision ${from}` : ''}.`)
    return {}
  },
})

/** The reader may close the output, as `head` does. Then nothing more is read. */
function createReaders(output: Writable) {
  let isGone = false
  // main.ts decides what the error means for the command.
  output.once('error', () => {
    isGone = true
  })
  return {
    async areGone() {
      // A write error is reported a moment later.
      await setImmediate()
      return isGone
    },
  }
}

async function* eventsOf(log: RawClient, stream: string, from: bigint, limit: number): AsyncGenerator<RawEvent, void> {
  for (let [next, remaining] = [from, limit]; remaining > 0; ) {
    const page = await readStreamPage(log, stream, next, Math.min(remaining, pageSize))
    yield* page.events
    const last = page.events.at(-1)
    if (last === undefined || page.isLast) return
    remaining -= page.events.length
    next = last.revision + 1n
  }
}

type EventDecoder = Pick<Codec, 'decode'>

/** The event as a line of an export, with the reason when this program cannot decode it. */
export function eventJson(event: RawEvent, codec: EventDecoder = domainCodec): string {
  const decoded = tryDecode(codec, event)
  const line = exportLine(event)
  return decoded instanceof Error ? `${line.slice(0, -1)},"unreadable":${JSON.stringify(decoded.message)}}` : line
}

/** The fields of a known event, or the line of an export for any other. */
export function eventText(event: RawEvent, codec: EventDecoder = domainCodec): string {
  const decoded = tryDecode(codec, event)
  const { revision, type, created } = event
  const head = `${revision}  ${type}  ${created.toISOString()}`
  if (decoded instanceof Error)
    return [`${head}  cannot be decoded: ${decoded.message}`, `    ${exportLine(event)}`].join('\n')
  const fields = recordedFields(event)
  const width = Math.max(...fields.map(([key]) => key.length))
  const facts = fields.map(([key, value]) => `    ${key.padEnd(width)}  ${JSON.stringify(value)}`)
  return [`${head}  by ${decoded.metadata.actor}`, ...facts].join('\n')
}

/** The recorded fields. The latest schema of the type may have more. */
function recordedFields({ data }: RawEvent): [string, unknown][] {
  const recorded: unknown = JSON.parse(Buffer.from(data).toString())
  return typeof recorded === 'object' && recorded !== null ? Object.entries(recorded) : []
}
