// Sends the reads and subscriptions of a run to a server, and formats its messages as lines.
import type { ReadResp } from '@eventstore/db-client/generated/streams_pb.js'
import { type OpenRead, openRead, type RawFilter, type ReadForm, readMessages, readRequest } from '../../rawReads.ts'
import { failureLine } from './calls.ts'
import { checkpointText, eventText, foundText, type Line, notFoundText } from './lines.ts'
import type { Filter, LogRead, StreamRead } from './reads.ts'
import { nameOf, type Session, symbolOf, withoutPrefix } from './session.ts'
import type { SubscriptionRequest } from './subscriptions.ts'

/** Events of other clients are left out; `others` counts them. */
export type ServerLines = { readonly lines: readonly Line<bigint>[]; readonly others: number }

export async function callRead(session: Session, read: StreamRead | LogRead): Promise<ServerLines> {
  const stream = 'stream' in read ? nameOf(session, read.stream) : undefined
  const form: ReadForm = {
    ...(stream === undefined ? {} : { stream }),
    ...('filter' in read && read.filter !== undefined ? { filter: rawFilter(session, read.filter) } : {}),
    backwards: read.direction === 'backwards',
    from: typeof read.from === 'number' ? serverPosition(session, read.from) : read.from,
    count: read.count,
    resolveLinks: read.links,
  }
  const { messages, failed } = await readMessages(session.client, readRequest(form))
  const { lines, others } = linesOf(session, messages)
  return failed === undefined ? { lines, others } : { lines: [...lines, failureLine(failed, stream ?? '')], others }
}

/** @throws when the server has not returned the position yet */
function serverPosition({ positions }: Session, record: number): bigint {
  const position = positions.get(record)
  if (position === undefined) throw new Error(`the position of record ${record} is not known`)
  return position
}

function rawFilter(session: Session, { by, prefix, regex }: Filter): RawFilter {
  const named = (text: string) => text.replaceAll('{P}', session.prefix)
  return { by, ...(regex === undefined ? { prefixes: (prefix ?? []).map(named) } : { regex: named(regex) }) }
}

export type ServerSubscription = {
  lines(): ServerLines
  readonly cancel: () => void
}

export function callSubscribe(session: Session, request: SubscriptionRequest): ServerSubscription {
  const stream = request.stream === undefined ? undefined : nameOf(session, request.stream)
  const { filter, from } = request
  const window = filter?.window
  const form: ReadForm = {
    ...(stream === undefined ? {} : { stream }),
    ...(filter === undefined
      ? {}
      : {
          filter: {
            ...rawFilter(session, filter),
            interval: filter.every,
            ...(window === undefined ? {} : { window }),
          },
        }),
    from: typeof from === 'number' ? serverPosition(session, from) : from,
    count: null,
    resolveLinks: request.links,
  }
  const read: OpenRead = openRead(session.client, readRequest(form))
  const seen = { messages: 0, others: 0, lines: [] as Line<bigint>[] }
  return {
    cancel: read.cancel,
    lines() {
      const { lines, others } = linesOf(session, read.messages.slice(seen.messages))
      seen.messages = read.messages.length
      seen.others += others
      seen.lines.push(...lines)
      const ended = read.ended()
      if (ended === undefined) return { lines: seen.lines, others: seen.others }
      const end = ended === 'normally' ? { text: 'the end', at: [] } : failureLine(ended, stream ?? '')
      return { lines: [...seen.lines, end], others: seen.others }
    },
  }
}

function linesOf(session: Session, messages: readonly ReadResp[]): ServerLines {
  const lines = messages.map((message) => lineOf(session, message))
  const own = lines.filter((line) => line !== undefined)
  return { lines: own, others: lines.length - own.length }
}

function lineOf(session: Session, message: ReadResp): Line<bigint> | undefined {
  const event = message.getEvent()
  if (event !== undefined) return eventLine(session, event)
  const checkpoint = message.getCheckpoint()
  if (checkpoint !== undefined) {
    const same = session.isKurrentDb || checkpoint.getCommitPosition() === checkpoint.getPreparePosition()
    return { text: same ? checkpointText : 'a checkpoint of two parts', at: [BigInt(checkpoint.getCommitPosition())] }
  }
  if (message.hasStreamNotFound()) return { text: notFoundText, at: [] }
  if (message.hasConfirmation()) return { text: 'confirmation', at: [] }
  return { text: message.hasCaughtUp() ? 'caught_up' : `message ${message.getContentCase()}`, at: [] }
}

function eventLine(session: Session, read: ReadResp.ReadEvent): Line<bigint> | undefined {
  const link = read.getLink()
  const event = read.getEvent()
  const original = link ?? event
  if (original === undefined) return { text: 'an event without content', at: [] }
  if (!streamIn(original).includes(session.prefix)) return undefined
  const text = foundText(event && recordedText(session, event), link && recordedText(session, link))
  const placed = read.hasCommitPosition() && read.getCommitPosition() === original.getCommitPosition()
  const known = [link, event].filter((each) => each !== undefined)
  const at = known.map((each) => BigInt(each.getCommitPosition()))
  return { text: placed ? text : `${text}, placed elsewhere`, at }
}

function streamIn(event: ReadResp.ReadEvent.RecordedEvent): string {
  return Buffer.from(event.getStreamIdentifier()?.getStreamName_asU8() ?? []).toString('utf8')
}

const ticksPattern = /^\d{17,18}$/

function recordedText(session: Session, event: ReadResp.ReadEvent.RecordedEvent): string {
  const properties = event.getMetadataMap()
  const type = properties.get('type') ?? 'no type'
  const data = Buffer.from(event.getData_asU8())
  const text = eventText({
    stream: withoutPrefix(session, streamIn(event)),
    revision: event.getStreamRevision(),
    type,
    json: properties.get('content-type') === 'application/json',
    id: symbolOf(session, event.getId()?.getString() ?? ''),
    data: type === '$>' ? Buffer.from(withoutPrefix(session, data.toString('utf8'))) : data,
    meta: event.getCustomMetadata_asU8(),
  })
  if (!ticksPattern.test(properties.get('created') ?? '')) return `${text}, made at no time`
  return event.getCommitPosition() === event.getPreparePosition() ? text : `${text}, prepared elsewhere`
}
