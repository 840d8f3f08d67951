// An append through either call, with a uniform result.
import type { StreamsClient } from '@eventstore/db-client/generated/streams_grpc_pb.js'
import type { AppendResp, BatchAppendResp } from '@eventstore/db-client/generated/streams_pb.js'
import type { ServiceError } from '@grpc/grpc-js'
import { type RawResponse, unaryAppend } from '../rawCalls.ts'
import type { RawEvent, RawExpectation } from '../rawMessages.ts'
import { batchError, batchRequest, currentRevisionIn } from '../rawStreams.ts'

export type Way = 'BatchAppend' | 'Append'
export const bothWays: readonly Way[] = ['BatchAppend', 'Append']

export type Append = {
  readonly stream: string
  readonly expected?: RawExpectation
  readonly events: readonly RawEvent[]
}

export type AppendResponse = {
  /** `revision 3`, `no stream`, `wrong, at 3`, `deleted`, `too large`, or the status of a bad request. */
  readonly word: string
  readonly position?: bigint
}

export function appendEitherWay(raw: StreamsClient, way: Way, append: Append): Promise<AppendResponse> {
  return way === 'Append' ? unaryAppend(raw, append).then(unaryResponse) : batchAppendOnce(raw, append)
}

function batchAppendOnce(raw: StreamsClient, append: Append): Promise<AppendResponse> {
  return new Promise((resolve, reject) => {
    const call = raw.batchAppend()
    let hasReply = false
    call.on('data', (reply: BatchAppendResp) => {
      hasReply = true
      resolve(batchResponse(reply))
      call.cancel()
    })
    call.on('error', (error: ServiceError) => hasReply || reject(error))
    call.write(batchRequest(append))
  })
}

function batchResponse(reply: BatchAppendResp): AppendResponse {
  const success = reply.getSuccess()
  if (success !== undefined) return successResponse(success)
  const { type, details } = batchError(reply) ?? { type: 'nothing', details: new Uint8Array() }
  switch (type) {
    case 'event_store.client.WrongExpectedVersion':
      return { word: `wrong, at ${currentRevisionIn(details)}` }
    case 'event_store.client.StreamDeleted':
      return { word: 'deleted' }
    case 'event_store.client.MaximumAppendSizeExceeded':
      return { word: 'too large' }
    default:
      return { word: type.replace('event_store.client.', '') }
  }
}

function unaryResponse(result: RawResponse<AppendResp>): AppendResponse {
  if ('failed' in result) {
    const { code, trailers } = result.failed
    if (trailers.exception === 'stream-deleted') return { word: 'deleted' }
    return { word: trailers.exception === 'maximum-append-size-exceeded' ? 'too large' : code }
  }
  const success = result.response.getSuccess()
  if (success !== undefined) return successResponse(success)
  const wrong = result.response.getWrongExpectedVersion()
  return { word: `wrong, at ${wrong?.hasCurrentNoStream() ? 'none' : wrong?.getCurrentRevision()}` }
}

function successResponse(success: AppendResp.Success | BatchAppendResp.Success): AppendResponse {
  const word = success.hasNoStream() ? 'no stream' : `revision ${success.getCurrentRevision()}`
  const position = success.getPosition()
  return position === undefined ? { word } : { word, position: BigInt(position.getCommitPosition()) }
}
