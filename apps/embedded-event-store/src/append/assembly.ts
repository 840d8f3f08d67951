// One append of BatchAppend whose chunks are arriving.
import type { BatchAppendReq } from '@eventstore/db-client/generated/streams_pb.js'
import streams from '@eventstore/db-client/generated/streams_pb.js'
import { BadRequestError, optionalStreamNameOf, revisionOf } from '../protocol/identifiers.ts'
import { expectAny, expectNoStream, expectStreamExists, type ProposedEvent } from './proposal.ts'
import { countedBytesOf, pendingBytesOf, proposedEventOf } from './proposedMessage.ts'

export type Assembly = {
  readonly options: BatchAppendReq.Options
  /** May be empty: like EventStoreDB, it is only checked with the last chunk. */
  readonly stream: string
  readonly expected: bigint
  readonly deadlineMs: number
  readonly events: ProposedEvent[]
  /** Bytes that count towards the maximum append size. */
  countedBytes: number
  /** Bytes in memory. */
  heldBytes: number
  timer: NodeJS.Timeout | undefined
}

/** For clients that send no deadline. */
const defaultDeadlineMs = 10_000

/**
 * Starts an append from the options in its first chunk.
 * @throws BadRequestError for options without a stream or an expectation
 */
export function beginAssembly(options: BatchAppendReq.Options): Assembly {
  if (!options.hasStreamIdentifier()) throw new BadRequestError('A stream identifier is required')
  return {
    options,
    stream: optionalStreamNameOf(options.getStreamIdentifier()),
    expected: expectedOf(options),
    deadlineMs: deadlineOf(options),
    events: [],
    countedBytes: 0,
    heldBytes: 0,
    timer: undefined,
  }
}

/** The client's deadline, by its own clock. */
export function deadlineOf(options: BatchAppendReq.Options): number {
  const deadline = options.getDeadline()
  return deadline ? deadline.toDate().getTime() : Date.now() + defaultDeadlineMs
}

/**
 * Adds the events of a chunk, all of them or none.
 * @throws BadRequestError for an invalid event
 */
export function addChunk(assembly: Assembly, request: BatchAppendReq): void {
  for (const event of request.getProposedMessagesList().map(proposedEventOf)) {
    assembly.events.push(event)
    assembly.countedBytes += countedBytesOf(event)
    assembly.heldBytes += pendingBytesOf(event)
  }
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
      return revisionOf(options.getStreamPosition())
    default:
      throw new BadRequestError('An expected stream position is required')
  }
}
