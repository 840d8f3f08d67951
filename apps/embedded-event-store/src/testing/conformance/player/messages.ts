// Converts the messages of a read to the format of a recording.
import type { ReadResp } from '@eventstore/db-client/generated/streams_pb.js'
import { positionAt } from './ranks.ts'
import type { Json } from './scenario.ts'
import type { Symbols } from './symbols.ts'

/** Longer data is recorded by its length. */
const maxDataBytes = 120

/** Without events of other scenarios, and without checkpoints that were not recorded. */
export function messageResponses(
  messages: readonly ReadResp[],
  symbols: Symbols,
  { checkpoints }: { readonly checkpoints: boolean },
): Json[] {
  return messages.flatMap((message) => {
    const response = responseOf(message, symbols)
    if (response === undefined || (message.hasCheckpoint() && !checkpoints)) return []
    return [response]
  })
}

function responseOf(message: ReadResp, symbols: Symbols): Json | undefined {
  const event = message.getEvent()
  if (event !== undefined) return eventResponse(event, symbols)
  const notFound = message.getStreamNotFound()?.getStreamIdentifier()
  if (notFound !== undefined) return { notFound: symbols.withoutNames(text(notFound.getStreamName_asU8())) }
  const checkpoint = message.getCheckpoint()
  if (checkpoint !== undefined) return { checkpoint: positionAt(checkpoint.getCommitPosition()) }
  if (message.hasFirstStreamPosition()) return { first: message.getFirstStreamPosition() }
  if (message.hasLastStreamPosition()) return { last: message.getLastStreamPosition() }
  if (message.hasConfirmation()) return 'confirmation'
  if (message.hasCaughtUp()) return 'caught_up'
  if (message.hasFellBehind()) return 'fell_behind'
  return message.hasLastAllStreamPosition() ? undefined : 'other'
}

function eventResponse(read: ReadResp.ReadEvent, symbols: Symbols): Json | undefined {
  const original = read.getLink() ?? read.getEvent()
  const owner = original?.getStreamIdentifier()?.getStreamName_asU8()
  if (owner === undefined || !symbols.owns(text(owner))) return undefined
  const link = read.getLink()
  const event = recordedResponse(read.getEvent(), symbols)
  return link === undefined ? { event } : { event, link: recordedResponse(link, symbols) }
}

function recordedResponse(event: ReadResp.ReadEvent.RecordedEvent | undefined, symbols: Symbols): Json {
  if (event === undefined) return null
  const properties = event.getMetadataMap()
  const data = event.getData_asU8()
  return {
    stream: symbols.withoutNames(text(event.getStreamIdentifier()?.getStreamName_asU8() ?? new Uint8Array())),
    revision: event.getStreamRevision(),
    type: properties.get('type') ?? null,
    contentType: properties.get('content-type') ?? null,
    id: symbols.eventSymbol(event.getId()?.getString() ?? ''),
    data: data.length > maxDataBytes ? `${data.length} bytes` : symbols.withoutNames(text(data)),
    meta: text(event.getCustomMetadata_asU8()),
    at: positionAt(event.getCommitPosition()),
  }
}

function text(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('utf8')
}
