// Streams/BatchAppend. Many appends share one stream of messages; each correlation id gets exactly one reply.
import type { BatchAppendReq } from '@eventstore/db-client/generated/streams_pb.js'
import { unknown } from '../protocol/callError.ts'
import { type BatchAppendCall, openChannel } from './batchChannel.ts'
import { createReceiver } from './batchReceiver.ts'
import { createPendingBytes } from './pendingBytes.ts'
import type { Writer } from './writer.ts'

/** Limit of unfinished appends, for all calls together. */
const maxPendingBytes = 256 << 20

export function createBatchAppend(deps: {
  readonly writer: Writer
  readonly maxAppendBytes: number
  readonly stopping: AbortSignal
}): (call: BatchAppendCall) => void {
  const held = createPendingBytes(maxPendingBytes)
  return (call) => {
    const channel = openChannel(call, deps)
    const receive = createReceiver(channel, { ...deps, held })
    call.on('data', (request: BatchAppendReq) => {
      if (channel.closed()) return
      try {
        receive(request)
      } catch {
        // An error thrown from the event handler would end the process.
        channel.fail(unknown('The request could not be handled'))
      }
    })
  }
}
