// Short descriptions of a stream's readable contents.
import type { StreamsClient } from '@eventstore/db-client/generated/streams_grpc_pb.js'
import type { ReadResp } from '@eventstore/db-client/generated/streams_pb.js'
import { type ReadForm, readMessages, readRequest } from '../rawReads.ts'

export type Shown = readonly string[] | string

/**
 * The revisions of the events in order, of a link with its target (`2→0@target`, `2→nothing`), and `not found`,
 * `first 3` and `last 5`. Or the error of the read, such as `deleted` or `UNKNOWN`.
 */
export async function shown(raw: StreamsClient, form: ReadForm): Promise<Shown> {
  const { messages, failed } = await readMessages(raw, readRequest(form))
  if (failed !== undefined) return failed.trailers.exception === 'stream-deleted' ? 'deleted' : failed.code
  return messages.map(wordFor)
}

/** The ids of a stream's events in order; none for a stream that is not found. */
export async function idsIn(raw: StreamsClient, stream: string): Promise<(string | undefined)[]> {
  const { messages } = await readMessages(raw, readRequest({ stream, from: 'start' }))
  return messages.flatMap((message) =>
    message.hasEvent() ? [message.getEvent()?.getEvent()?.getId()?.getString()] : [],
  )
}

function wordFor(message: ReadResp): string {
  const read = message.getEvent()
  if (read !== undefined) return eventWord(read)
  if (message.hasStreamNotFound()) return 'not found'
  if (message.hasFirstStreamPosition()) return `first ${message.getFirstStreamPosition()}`
  if (message.hasLastStreamPosition()) return `last ${message.getLastStreamPosition()}`
  return 'something else'
}

function eventWord(read: ReadResp.ReadEvent): string {
  const event = read.getEvent()
  const link = read.getLink()
  if (link === undefined) return event?.getStreamRevision() ?? 'an event without an event'
  const target = event === undefined ? 'nothing' : `${event.getStreamRevision()}@${streamOf(event)}`
  return `${link.getStreamRevision()}→${target}`
}

export function streamOf(event: ReadResp.ReadEvent.RecordedEvent): string {
  return Buffer.from(event.getStreamIdentifier()?.getStreamName_asU8() ?? []).toString()
}
