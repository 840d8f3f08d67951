// The client dies of what may happen to a stream of appends; this keeps it, and the process, alive.
import streamsGrpc, { type StreamsClient } from '@eventstore/db-client/generated/streams_grpc_pb.js'

type BatchCall = ReturnType<StreamsClient['batchAppend']>

let isBatchAppendPatched = false

/**
 * Guards every batch stream that any client of this process opens from here on. The client (6.2.1) keeps the appends that
 * wait for an answer in one map for the whole process, and offers no place of its own to step in:
 * - It throws, out of an event handler and so for the whole process, when an answer matches no waiting append. An error of
 *   one stream rejects and forgets what waits on all of them, so any later answer on another stream is such an answer.
 * - While a stream is full it queues writes, and when the stream fails then, each becomes an unhandled rejection.
 * - It lets appends wait for ever on a stream that the server has ended.
 */
export function patchBatchAppend(): void {
  if (isBatchAppendPatched) return
  isBatchAppendPatched = true
  const { prototype } = streamsGrpc.StreamsClient
  const open = prototype.batchAppend
  type Arguments = Parameters<typeof open>
  Object.defineProperty(prototype, 'batchAppend', {
    value(this: typeof prototype, ...args: Arguments) {
      const call = open.apply(this, args)
      patchCall(call)
      return call
    },
  })
}

function patchCall(call: BatchCall): void {
  const emit = call.emit.bind(call)
  call.emit = (event: string | symbol, ...args: unknown[]) => {
    if (event !== 'data') return emit(event, ...args)
    try {
      return emit(event, ...args)
    } catch {
      // Nobody waits for this answer, or nobody can read it: its append is repeated when its time is over.
      return true
    }
  }
  const write = call.write.bind(call)
  // What waits to be written is in memory either way, and its callers wait for their answers: nothing is gained by a queue.
  call.write = (message: Parameters<typeof write>[0]) => {
    write(message)
    return true
  }
  call.once('end', () => call.destroy(new Error('The event store ended the stream of appends')))
}
