// Sends the writes of a run to a server, and formats its replies as lines.
import shared from '@eventstore/db-client/generated/shared_pb.js'
import type { BatchAppendResp } from '@eventstore/db-client/generated/streams_pb.js'
import { deleteStream, type Failed, tombstoneStream, unaryAppend } from '../../rawCalls.ts'
import type { RawEvent } from '../../rawMessages.ts'
import { batchError, type Chunk } from '../../rawStreams.ts'
import {
  acceptedText,
  deletedText,
  type Line,
  noResponseText,
  removedText,
  tooLargeText,
  unknownText,
  wrongText,
} from './lines.ts'
import type { Expected } from './model.ts'
import { idOf, nameOf, type Session } from './session.ts'
import type { Proposed } from './store.ts'

export type AppendRequest = {
  readonly stream: string
  readonly expected: Expected
  readonly events: readonly Proposed[]
  readonly via: 'batch' | 'unary'
  /** Of a batch append. */
  readonly chunks: number
}

const responseTimeoutMs = 15_000
/** How long to wait for a reply when none is expected. */
const silenceMs = 150

/** @param silent whether the model expects no reply */
export async function callAppend(session: Session, request: AppendRequest, silent: boolean): Promise<Line<bigint>> {
  const stream = nameOf(session, request.stream)
  const events = request.events.map((event) => rawEvent(session, event))
  if (request.via === 'batch' || silent) {
    const chunks = chunksOf(stream, request, events)
    return batchLine(stream, await session.batch.append(chunks, silent ? silenceMs : responseTimeoutMs))
  }
  const result = await unaryAppend(session.client, { stream, expected: request.expected, events })
  if ('failed' in result) return failureLine(result.failed, stream)
  const wrong = result.response.getWrongExpectedVersion()
  if (wrong === undefined) return successLine(result.response.getSuccess())
  const current = wrong.hasCurrentNoStream() ? '-1' : wrong.getCurrentRevision()
  return { text: wrongText(expectedIn(wrong, wrong.getExpectedRevision()), current), at: [] }
}

function rawEvent(session: Session, event: Proposed): RawEvent {
  return {
    id: idOf(session, event.id ?? ''),
    type: event.type,
    contentType: event.json ? 'application/json' : 'application/octet-stream',
    data: event.type === '$>' ? linkData(session, event.data) : event.data,
    metadata: event.meta,
  }
}

/** A link names its stream. */
function linkData(session: Session, data: Buffer): string {
  return data.toString('utf8').replace(/@(.+)$/, (_all, stream: string) => `@${nameOf(session, stream)}`)
}

function chunksOf(stream: string, { expected, chunks }: AppendRequest, events: readonly RawEvent[]): Chunk[] {
  const perChunk = Math.ceil(events.length / chunks)
  return Array.from({ length: chunks }, (_, index) => ({
    ...(index === 0 ? { stream, expected } : {}),
    events: events.slice(index * perChunk, (index + 1) * perChunk),
    final: index === chunks - 1,
  }))
}

function batchLine(stream: string, reply: BatchAppendResp | undefined): Line<bigint> {
  if (reply === undefined) return { text: noResponseText, at: [] }
  const name = Buffer.from(reply.getStreamIdentifier()?.getStreamName_asU8() ?? []).toString('utf8')
  if (name !== stream) return { text: `a reply for the stream ${name}`, at: [] }
  const error = batchError(reply)
  if (error === undefined) return successLine(reply.getSuccess())
  switch (`${error.code} ${error.type}`) {
    case '5 event_store.client.StreamDeleted':
      return { text: deletedText, at: [] }
    case '3 event_store.client.MaximumAppendSizeExceeded':
      return { text: tooLargeText, at: [] }
    case '6 event_store.client.WrongExpectedVersion': {
      const wrong = shared.WrongExpectedVersion.deserializeBinary(error.details)
      const current = wrong.hasCurrentNoStream() ? '-1' : wrong.getCurrentStreamRevision()
      return { text: wrongText(expectedIn(wrong, wrong.getExpectedStreamPosition()), current), at: [] }
    }
    default:
      return { text: `${error.code} ${error.type}`, at: [] }
  }
}

type WrongExpectation = {
  hasExpectedAny(): boolean
  hasExpectedNoStream(): boolean
  hasExpectedStreamExists(): boolean
}

function expectedIn(wrong: WrongExpectation, revision: string): string {
  if (wrong.hasExpectedAny()) return 'any'
  if (wrong.hasExpectedNoStream()) return 'no_stream'
  return wrong.hasExpectedStreamExists() ? 'stream_exists' : revision
}

type Positioned = { getPosition(): { getCommitPosition(): string; getPreparePosition(): string } | undefined }
type Success = Positioned & { hasNoStream(): boolean; getCurrentRevision(): string }

function successLine(success: Success | undefined): Line<bigint> {
  if (success === undefined) return { text: 'neither success nor failure', at: [] }
  return positionLine(acceptedText(success.hasNoStream() ? '-1' : success.getCurrentRevision()), success)
}

function positionLine(text: string, positioned: Positioned): Line<bigint> {
  const position = positioned.getPosition()
  if (position === undefined) return { text: `${text}, no position`, at: [] }
  const commit = position.getCommitPosition()
  const same = commit === position.getPreparePosition()
  return { text: same ? text : `${text}, prepared elsewhere`, at: [BigInt(commit)] }
}

export async function callRemoval(
  session: Session,
  removal: 'delete' | 'tombstone',
  stream: string,
  expected: Expected,
): Promise<Line<bigint>> {
  const name = nameOf(session, stream)
  const result = await (removal === 'delete' ? deleteStream : tombstoneStream)(session.client, name, expected)
  return 'failed' in result ? failureLine(result.failed, name) : positionLine(removedText, result.response)
}

const symbolicVersions: Readonly<Record<string, string>> = { '-1': 'no_stream', '-2': 'any', '-4': 'stream_exists' }

export function failureLine({ code, trailers }: Failed, stream: string): Line<bigint> {
  return { text: failureText(code, trailers, stream), at: [] }
}

function failureText(code: string, trailers: Failed['trailers'], stream: string): string {
  const exception = trailers.exception
  if (code === 'UNKNOWN' && exception === undefined) return unknownText
  if (code === 'INVALID_ARGUMENT' && exception === 'maximum-append-size-exceeded') return tooLargeText
  const named = code === 'FAILED_PRECONDITION' && trailers['stream-name'] === stream
  if (named && exception === 'stream-deleted') return deletedText
  if (named && exception === 'wrong-expected-version') {
    const expected = trailers['expected-version'] ?? 'nothing'
    return wrongText(symbolicVersions[expected] ?? expected, trailers['actual-version'] ?? 'nothing')
  }
  return `${code} ${JSON.stringify(trailers)}`
}
