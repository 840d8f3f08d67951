// `streams read`: the events of one stream, in order.
import type { Writable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import type { RawClient } from '@paylog/event-store/raw/rawClient'
import type { RawEvent } from '@paylog/event-store/raw/rawEvent'
import { readStreamPage } from '@paylog/event-store/raw/rawRead'
import { type CliCommand, OpsError, readArguments, readCount } from '../command.ts'
import { openRawLog } from './logUnderExport.ts'
import { eventJson, eventText } from './shownEvent.ts'

/** Read at once; a long stream is shown page by page. */
const pageSize = 500

export const streamsRead: CliCommand = {
  usage: 'STREAM [--from N] [--limit N] [--json]',
  summary: 'Show the events of a stream, one JSON object per line with --json',
  details: [
    '  --from N   the first revision; 0 when left out',
    '  --limit N  so many events at most',
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
