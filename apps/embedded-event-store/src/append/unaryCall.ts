// Shared by Append, Delete and Tombstone: the expected revision, the submission and the error statuses.
import type { AppendReq, DeleteReq, TombstoneReq } from '@eventstore/db-client/generated/streams_pb.js'
import {
  CallError,
  invalidArgument,
  missingMetadataProperty,
  outOfSpace,
  streamDeleted,
  timedOut,
  unavailable,
  unknown,
} from '../protocol/callError.ts'
import { BadRequestError, revisionOf } from '../protocol/identifiers.ts'
import { expectAny, expectNoStream, expectStreamExists, noResponse, type Outcome, type Proposal } from './proposal.ts'
import { MissingMetadataError } from './proposedMessage.ts'
import type { Writer } from './writer.ts'

export type Call = { readonly cancelled: boolean; getDeadline(): Date | number }

export function submit(writer: Writer, call: Call, proposal: Proposal, bytes: number): Promise<Outcome> {
  const deadline = call.getDeadline()
  const deadlineMs = deadline instanceof Date ? deadline.getTime() : deadline
  return writer.submit({ proposal, bytes, deadlineMs, isCancelled: () => call.cancelled })
}

/**
 * The expected revision of these three requests; BatchAppend has other field names.
 * @throws CallError or BadRequestError
 */
export function expectedOf(options: AppendReq.Options | DeleteReq.Options | TombstoneReq.Options): bigint {
  if (options.hasAny()) return expectAny
  if (options.hasNoStream()) return expectNoStream
  if (options.hasStreamExists()) return expectStreamExists
  if (options.hasRevision()) return revisionOf(options.getRevision())
  throw invalidArgument('An expected stream revision is required')
}

/**
 * Ends a call for the outcomes that all three report alike.
 * @throws CallError, or never settles where EventStoreDB sends no reply
 */
export async function endWithError(
  stream: string,
  outcome: Extract<Outcome, { kind: 'stream_deleted' | 'timeout' | 'no_space' | 'no_response' }>,
): Promise<never> {
  switch (outcome.kind) {
    case 'stream_deleted':
      throw streamDeleted(stream)
    case 'timeout':
      throw timedOut()
    case 'no_space':
      throw outOfSpace()
    case 'no_response':
      return noResponse()
  }
}

/** The gRPC status for an error. */
export function callErrorOf(error: unknown): CallError {
  if (error instanceof CallError) return error
  if (error instanceof MissingMetadataError) return missingMetadataProperty()
  if (error instanceof BadRequestError) return unknown(error.message)
  return unavailable('The log cannot be written now')
}
