// An event as `streams read` shows it: as it was recorded, whatever this program makes of it.

import type { Writable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import { type Codec, domainCodec } from '@paylog/event-store/codec/codec'
import type { RawClient } from '@paylog/event-store/raw/rawClient'
import { decodeRaw, type RawEvent } from '@paylog/event-store/raw/rawEvent'
import { readStreamPage } from '@paylog/event-store/raw/rawRead'
import { type CliCommand, OpsError, readArguments, readCount } from '../command.ts'
import { exportLine } from './exportLine.ts'
import { openRawLog } from './exportSelection.ts'

type EventDecoder = Pick<Codec, 'decode'>

/** As machines read it: the line of an export, and why this program cannot read it if that is so. */
export function eventJson(event: RawEvent, codec: EventDecoder = domainCodec): string {
  const decoded = decodeRaw(event, codec)
  const line = exportLine(event)
  return decoded instanceof Error ? `${line.slice(0, -1)},"unreadable":${JSON.stringify(decoded.message)}}` : line
}

/** As people read it: what this program knows field by field, anything else as the line of an export. */
export function eventText(event: RawEvent, codec: EventDecoder = domainCodec): string {
  const decoded = decodeRaw(event, codec)
  const { revision, type, created } = event
  const head = `${revision}  ${type}  ${created.toISOString()}`
  if (decoded instanceof Error)
    return [`${head}  as recorded: ${decoded.message}`, `    ${exportLine(event)}`].join('\n')
  const fields = recordedFields(event)
  const width = Math.max(...fields.map(([key]) => key.length))
  const facts = fields.map(([key, value]) => `    ${key.padEnd(width)}  ${JSON.stringify(value)}`)
  return [`${head}  by ${decoded.metadata.actor}`, ...facts].join('\n')
}

/** Of data that fits a schema of ours, and so is a JSON object; the newest shape of its type may have other fields. */
function recordedFields({ data }: RawEvent): [string, unknown][] {
  const recorded: unknown = JSON.parse(Buffer.from(data).toString())
  return typeof recorded === 'object' && recorded !== null ? Object.entries(recorded) : []
}

// `streams read`: the events of one stream, in order.

/** Read at once; a long stream is shown page by page. */
const pageSize = 500

export const streamsRead: CliCommand = {
  usage: 'STREAM [--from N] [--limit N] [--json]',
  summary: 'Show the events of a stream, one JSON object per line with --json',
  details: [
    '  --from N   the first revision; 0 when left out',
    '  --limit N  so many events at most',
    '  --json     one JSON object per event',
    '',
    'Events are shown as they were recorded, with --json as in the lines of an export; of one that this program cannot read',
    'also why.',
  ].join('\n'),
  async run(args, { environment, print, output }) {
    const { values, positionals } = readArguments(args, ['STREAM'], {
      from: { type: 'string' },
      limit: { type: 'string' },
      json: { type: 'boolean' },
    })
    const [stream] = positionals
    const from = readCount('--from', values.from, 0) ?? 0
    const limit = readCount('--limit', values.limit, 1) ?? Number.POSITIVE_INFINITY
    const readers = createReaders(output)
    const log = openRawLog(environment, { isFiltered: false })
    try {
      let shown = 0
      for await (const event of eventsOf(log, stream, BigInt(from), limit)) {
        await print(values.json ? eventJson(event) : eventText(event))
        shown++
        if (await readers.areGone()) return
      }
      if (shown === 0)
        throw new OpsError(`There are no events in ${stream}${from > 0 ? ` from revision ${from}` : ''}.`)
    } finally {
      await log.close()
    }
  },
}

/** Whoever reads the output may leave, as `head` does; nothing is read for nobody. */
function createReaders(output: Writable) {
  let isGone = false
  // What the error means for the command is decided where all of them are told.
  output.once('error', () => {
    isGone = true
  })
  return {
    async areGone() {
      // What went wrong with a write is told a moment later.
      await setImmediate()
      return isGone
    },
  }
}

async function* eventsOf(log: RawClient, stream: string, from: bigint, limit: number): AsyncGenerator<RawEvent, void> {
  for (let [next, left] = [from, limit]; left > 0; ) {
    const page = await readStreamPage(log, stream, next, Math.min(left, pageSize))
    if (page === 'closed') throw new OpsError(`${stream} was closed for good: its events can no longer be read.`)
    yield* page.events
    const last = page.events.at(-1)
    if (last === undefined || page.isLast) return
    left -= page.events.length
    next = last.revision + 1n
  }
}
