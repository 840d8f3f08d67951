// The replies of BatchAppend.
import rpc from '@eventstore/db-client/generated/code_pb.js'
import type { StreamIdentifier, UUID } from '@eventstore/db-client/generated/shared_pb.js'
import shared from '@eventstore/db-client/generated/shared_pb.js'
import statusPb from '@eventstore/db-client/generated/status_pb.js'
import type { BatchAppendResp } from '@eventstore/db-client/generated/streams_pb.js'
import streams from '@eventstore/db-client/generated/streams_pb.js'
import anyPb from 'google-protobuf/google/protobuf/any_pb.js'
import emptyPb from 'google-protobuf/google/protobuf/empty_pb.js'
import { noSpace } from '../protocol/callError.ts'
import { placedAt } from '../protocol/eventMessage.ts'
import { expectAny, expectNoStream, expectStreamExists, type Outcome } from './proposal.ts'

export type Failure =
  | Exclude<Outcome, { kind: 'done' } | { kind: 'no_response' }>
  | { readonly kind: 'bad_request'; readonly message: string }
  | { readonly kind: 'maximum_append_size_exceeded'; readonly maxAppendBytes: number }

/** The request that a reply belongs to, as far as it could be read. */
export type BatchRequest = {
  readonly correlationId: UUID | undefined
  readonly identifier: StreamIdentifier | undefined
}

/**
 * Every reply has its correlation id and its stream: the client breaks without them.
 * @param expected the request's expected revision, for `WrongExpectedVersion`
 */
export function batchReply(
  { correlationId, identifier }: BatchRequest,
  expected: bigint,
  result: Exclude<Outcome, { kind: 'no_response' }> | Failure,
): BatchAppendResp {
  const stream = identifier ?? new shared.StreamIdentifier()
  const reply = new streams.BatchAppendResp()
  reply.setCorrelationId(correlationId)
  reply.setStreamIdentifier(stream)
  if (result.kind === 'done') return reply.setSuccess(success(result.revision, result.position))
  const { code, message, type, value } = failure(stream, expected, result)
  const details = new anyPb.Any()
  details.setTypeUrl(`type.googleapis.com/event_store.client.${type}`)
  details.setValue(value.serializeBinary())
  const error = new statusPb.Status()
  error.setCode(code)
  error.setMessage(message)
  error.setDetails(details)
  return reply.setError(error)
}

function success(revision: bigint, position: bigint | undefined): BatchAppendResp.Success {
  const message = new streams.BatchAppendResp.Success()
  if (revision < 0n) message.setNoStream(new emptyPb.Empty())
  else message.setCurrentRevision(String(revision))
  if (position === undefined) return message.setNoPosition(new emptyPb.Empty())
  return message.setPosition(placedAt(new shared.AllStreamPosition(), position))
}

function failure(stream: StreamIdentifier, expected: bigint, result: Failure) {
  switch (result.kind) {
    case 'wrong_expected_version':
      return {
        code: rpc.Code.ALREADY_EXISTS,
        message: 'WrongExpectedVersion',
        type: 'WrongExpectedVersion',
        value: wrongExpectedVersion(expected, result.current),
      }
    case 'stream_deleted': {
      const value = new shared.StreamDeleted()
      value.setStreamIdentifier(stream)
      return { code: rpc.Code.NOT_FOUND, message: 'StreamDeleted', type: 'StreamDeleted', value }
    }
    case 'timeout':
      return { code: rpc.Code.DEADLINE_EXCEEDED, message: 'Timeout', type: 'Timeout', value: new shared.Timeout() }
    case 'no_space':
      return { code: rpc.Code.RESOURCE_EXHAUSTED, message: noSpace, type: 'NoSpace', value: new shared.Unknown() }
    case 'bad_request': {
      const value = new shared.BadRequest()
      value.setMessage(result.message)
      return { code: rpc.Code.INVALID_ARGUMENT, message: 'BadRequest', type: 'BadRequest', value }
    }
    case 'maximum_append_size_exceeded': {
      const value = new shared.MaximumAppendSizeExceeded()
      value.setMaxappendsize(result.maxAppendBytes)
      const type = 'MaximumAppendSizeExceeded'
      return { code: rpc.Code.INVALID_ARGUMENT, message: type, type, value }
    }
  }
}

function wrongExpectedVersion(expected: bigint, current: bigint) {
  const value = new shared.WrongExpectedVersion()
  if (current < 0n) value.setCurrentNoStream(new emptyPb.Empty())
  else value.setCurrentStreamRevision(String(current))
  switch (expected) {
    case expectAny:
      return value.setExpectedAny(new emptyPb.Empty())
    case expectNoStream:
      return value.setExpectedNoStream(new emptyPb.Empty())
    case expectStreamExists:
      return value.setExpectedStreamExists(new emptyPb.Empty())
    default:
      return value.setExpectedStreamPosition(String(expected))
  }
}
