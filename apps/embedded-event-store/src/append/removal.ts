// Streams/Delete and Streams/Tombstone.

import type { DeleteReq, DeleteResp, TombstoneReq, TombstoneResp } from '@eventstore/db-client/generated/streams_pb.js'
import streams from '@eventstore/db-client/generated/streams_pb.js'
import type { handleUnaryCall } from '@grpc/grpc-js'
import { unknown, wrongExpectedVersion } from '../protocol/callError.ts'
import { placedAt } from '../protocol/eventMessage.ts'
import { streamNameOf } from '../protocol/identifiers.ts'
import { type Call, callErrorOf, endWithError, expectedOf, submit } from './unaryCall.ts'
import type { Writer } from './writer.ts'

type Deps = { readonly writer: Writer }

/** Streams/Delete: hides the stream's events; the stream can be restored. */
export function createDelete({ writer }: Deps): handleUnaryCall<DeleteReq, DeleteResp> {
  const { DeleteResp } = streams
  return (call, callback) => {
    remove(writer, call, 'delete', call.request.getOptions()).then(
      (position) => callback(null, new DeleteResp().setPosition(placedAt(new DeleteResp.Position(), position))),
      (error) => callback(callErrorOf(error)),
    )
  }
}

/** Streams/Tombstone: closes the stream for good. */
export function createTombstone({ writer }: Deps): handleUnaryCall<TombstoneReq, TombstoneResp> {
  const { TombstoneResp } = streams
  return (call, callback) => {
    remove(writer, call, 'tombstone', call.request.getOptions()).then(
      (position) => callback(null, new TombstoneResp().setPosition(placedAt(new TombstoneResp.Position(), position))),
      (error) => callback(callErrorOf(error)),
    )
  }
}

async function remove(
  writer: Writer,
  call: Call,
  kind: 'delete' | 'tombstone',
  options: DeleteReq.Options | TombstoneReq.Options | undefined,
): Promise<bigint> {
  if (options === undefined) throw unknown('Options are required')
  const expected = expectedOf(options)
  const stream = streamNameOf(options.getStreamIdentifier())
  const outcome = await submit(writer, call, { kind, stream, expected }, 0)
  switch (outcome.kind) {
    case 'done':
      return outcome.position ?? 0n
    case 'wrong_expected_version':
      throw wrongExpectedVersion(stream, expected, outcome.current)
    default:
      return endWithError(stream, outcome)
  }
}
