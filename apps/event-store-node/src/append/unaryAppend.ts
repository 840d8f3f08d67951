// Streams/Append (options first, then one event per message), Delete and Tombstone.

import shared from '@eventstore/db-client/generated/shared_pb.js'
import type {
  AppendReq,
  AppendResp,
  DeleteReq,
  DeleteResp,
  TombstoneReq,
  TombstoneResp,
} from '@eventstore/db-client/generated/streams_pb.js'
import streams from '@eventstore/db-client/generated/streams_pb.js'
import type { handleUnaryCall, ServerReadableStream, sendUnaryData } from '@grpc/grpc-js'
import { BadRequestError, streamNameOf } from '../protocol/identifiers.ts'
import {
  invalidArgument,
  maximumAppendSizeExceeded,
  missingMetadataProperty,
  Refusal,
  streamDeleted,
  timedOut,
  unavailable,
  unknown,
  wrongExpectedVersion,
} from '../protocol/refusal.ts'
import {
  expectAny,
  expectNoStream,
  expectStreamExists,
  type Outcome,
  type Proposal,
  type ProposedEvent,
} from './proposal.ts'
import { appendSizeOf, MissingMetadataError, proposedEventOf } from './proposedMessage.ts'
import type { Writer } from './writer.ts'

type Deps = { readonly writer: Writer; readonly maxAppendBytes: number }
type Call = { readonly cancelled: boolean; getDeadline(): Date | number }

export function createAppend(deps: Deps) {
  return (call: ServerReadableStream<AppendReq, AppendResp>, callback: sendUnaryData<AppendResp>): void => {
    let options: AppendReq.Options | undefined
    let refused = false
    const events: ProposedEvent[] = []
    let bytes = 0
    const refuse = (error: unknown) => {
      if (refused) return
      refused = true
      events.length = 0
      callback(refusalOf(error))
    }
    call.on('data', (request: AppendReq) => {
      if (refused) return
      try {
        const message = request.getProposedMessage()
        if (options === undefined) options = request.getOptions()
        else if (message !== undefined) {
          const event = proposedEventOf(message)
          events.push(event)
          bytes += appendSizeOf(event)
        }
        if (options === undefined) throw invalidArgument('The first message must carry the options')
        if (bytes > deps.maxAppendBytes) throw maximumAppendSizeExceeded(deps.maxAppendBytes)
      } catch (error) {
        refuse(error)
      }
    })
    call.on('end', () => {
      if (refused) return
      answerAppend(deps.writer, call, options, events, bytes).then((response) => callback(null, response), refuse)
    })
  }
}

async function answerAppend(
  writer: Writer,
  call: Call,
  options: AppendReq.Options | undefined,
  events: readonly ProposedEvent[],
  bytes: number,
): Promise<AppendResp> {
  if (options === undefined) throw invalidArgument('The first message must carry the options')
  const stream = streamNameOf(options.getStreamIdentifier())
  const expected = expectedOf(options)
  const outcome = await submit(writer, call, { kind: 'append', stream, expected, events }, bytes)
  switch (outcome.kind) {
    case 'done':
      return appended(outcome.revision, outcome.position)
    case 'wrong_expected_version':
      return refusedAppend(expected, outcome.current)
    case 'stream_deleted':
      throw streamDeleted(stream)
    case 'timeout':
      throw timedOut()
  }
}

function appended(revision: bigint, position: bigint | undefined): AppendResp {
  const success = new streams.AppendResp.Success()
  if (revision < 0n) success.setNoStream(new shared.Empty())
  else success.setCurrentRevision(String(revision))
  if (position === undefined) success.setNoPosition(new shared.Empty())
  else {
    const at = new streams.AppendResp.Position()
    at.setCommitPosition(String(position))
    at.setPreparePosition(String(position))
    success.setPosition(at)
  }
  return new streams.AppendResp().setSuccess(success)
}

function refusedAppend(expected: bigint, current: bigint): AppendResp {
  const wrong = new streams.AppendResp.WrongExpectedVersion()
  if (current < 0n) wrong.setCurrentNoStream(new shared.Empty())
  else wrong.setCurrentRevision(String(current))
  if (expected === expectAny) wrong.setExpectedAny(new shared.Empty())
  else if (expected === expectNoStream) wrong.setExpectedNoStream(new shared.Empty())
  else if (expected === expectStreamExists) wrong.setExpectedStreamExists(new shared.Empty())
  else wrong.setExpectedRevision(String(expected))
  return new streams.AppendResp().setWrongExpectedVersion(wrong)
}

/** Streams/Delete: the stream's events are hidden, and it may come back. */
export function createDelete(deps: Deps): handleUnaryCall<DeleteReq, DeleteResp> {
  return (call, callback) => {
    remove(deps.writer, call, 'delete', call.request.getOptions()).then((position) => {
      const at = new streams.DeleteResp.Position()
      at.setCommitPosition(String(position))
      at.setPreparePosition(String(position))
      callback(null, new streams.DeleteResp().setPosition(at))
    }, failed(callback))
  }
}

/** Streams/Tombstone: the stream is gone for good. */
export function createTombstone(deps: Deps): handleUnaryCall<TombstoneReq, TombstoneResp> {
  return (call, callback) => {
    remove(deps.writer, call, 'tombstone', call.request.getOptions()).then((position) => {
      const at = new streams.TombstoneResp.Position()
      at.setCommitPosition(String(position))
      at.setPreparePosition(String(position))
      callback(null, new streams.TombstoneResp().setPosition(at))
    }, failed(callback))
  }
}

async function remove(
  writer: Writer,
  call: Call,
  kind: 'delete' | 'tombstone',
  options: DeleteReq.Options | TombstoneReq.Options | undefined,
): Promise<bigint> {
  if (options === undefined) throw invalidArgument('Options are required')
  const stream = streamNameOf(options.getStreamIdentifier())
  const expected = expectedOf(options)
  const outcome = await submit(writer, call, { kind, stream, expected }, 0)
  switch (outcome.kind) {
    case 'done':
      return outcome.position ?? 0n
    case 'wrong_expected_version':
      throw wrongExpectedVersion(stream, expected, outcome.current)
    case 'stream_deleted':
      throw streamDeleted(stream)
    case 'timeout':
      throw timedOut()
  }
}

function submit(writer: Writer, call: Call, proposal: Proposal, bytes: number): Promise<Outcome> {
  const deadline = call.getDeadline()
  const deadlineMs = deadline instanceof Date ? deadline.getTime() : deadline
  return writer.submit({ proposal, bytes, deadlineMs, isCancelled: () => call.cancelled })
}

/** The four requests spell their expectation alike; only BatchAppend calls it a position. */
function expectedOf(options: AppendReq.Options | DeleteReq.Options | TombstoneReq.Options): bigint {
  if (options.hasAny()) return expectAny
  if (options.hasNoStream()) return expectNoStream
  if (options.hasStreamExists()) return expectStreamExists
  if (options.hasRevision()) return BigInt(options.getRevision())
  throw invalidArgument('An expected stream revision is required')
}

function failed(callback: (error: Refusal) => void): (error: unknown) => void {
  return (error) => callback(refusalOf(error))
}

function refusalOf(error: unknown): Refusal {
  if (error instanceof Refusal) return error
  if (error instanceof MissingMetadataError) return missingMetadataProperty()
  if (error instanceof BadRequestError) return unknown(error.message)
  return unavailable('The log cannot be written now')
}
