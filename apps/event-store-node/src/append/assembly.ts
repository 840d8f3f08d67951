// One append of BatchAppend while its chunks come in.
import type { BatchAppendReq } from '@eventstore/db-client/generated/streams_pb.js'
import streams from '@eventstore/db-client/generated/streams_pb.js'
import { BadRequestError, streamNameOf } from '../protocol/identifiers.ts'
import type { Failure } from './batchReply.ts'
import { expectAny, expectNoStream, expectStreamExists, type ProposedEvent } from './proposal.ts'
import { appendSizeOf, proposedEventOf } from './proposedMessage.ts'

export type Assembly = {
  readonly options: BatchAppendReq.Options
  readonly stream: string
  readonly expected: bigint
  readonly deadlineMs: number
  readonly events: ProposedEvent[]
  bytes: number
  /** Kept until the last chunk, because the chunks after an early answer are to be ignored. */
  answered: boolean
  timer: NodeJS.Timeout | undefined
}

/** For clients that send no deadline. */
const defaultDeadlineMs = 10_000

/** Starts an append from its first chunk; what is wrong with it, if anything, comes beside it. */
export function beginAssembly(options: BatchAppendReq.Options): { assembly: Assembly; failure: Failure | undefined } {
  const deadline = options.getDeadline()
  const begun = {
    options,
    deadlineMs: deadline ? deadline.toDate().getTime() : Date.now() + defaultDeadlineMs,
    events: [],
    bytes: 0,
    answered: false,
    timer: undefined,
  }
  try {
    const stream = streamNameOf(options.getStreamIdentifier())
    return { assembly: { ...begun, stream, expected: expectedOf(options) }, failure: undefined }
  } catch (error) {
    return { assembly: { ...begun, stream: '', expected: expectAny }, failure: badRequest(error) }
  }
}

/** Adds the events of a chunk. */
export function addChunk(assembly: Assembly, request: BatchAppendReq, maxAppendBytes: number): Failure | undefined {
  try {
    for (const message of request.getProposedMessagesList()) {
      const event = proposedEventOf(message)
      assembly.events.push(event)
      assembly.bytes += appendSizeOf(event)
    }
  } catch (error) {
    return badRequest(error)
  }
  return assembly.bytes > maxAppendBytes ? { kind: 'maximum_append_size_exceeded', maxAppendBytes } : undefined
}

function expectedOf(options: BatchAppendReq.Options): bigint {
  const { ExpectedStreamPositionCase } = streams.BatchAppendReq.Options
  switch (options.getExpectedStreamPositionCase()) {
    case ExpectedStreamPositionCase.ANY:
      return expectAny
    case ExpectedStreamPositionCase.NO_STREAM:
      return expectNoStream
    case ExpectedStreamPositionCase.STREAM_EXISTS:
      return expectStreamExists
    case ExpectedStreamPositionCase.STREAM_POSITION:
      return BigInt(options.getStreamPosition())
    default:
      throw new BadRequestError('An expected stream position is required')
  }
}

function badRequest(error: unknown): Failure {
  if (error instanceof BadRequestError) return { kind: 'bad_request', message: error.message }
  throw error
}
