// The client dies of what may happen to a stream of appends; this keeps it, and the process, alive.

import type { Socket } from 'node:net'
import streamsGrpc, { type StreamsClient } from '@eventstore/db-client/generated/streams_grpc_pb.js'
import { Subchannel } from '@grpc/grpc-js/build/src/subchannel.js'
import { Http2SubchannelConnector } from '@grpc/grpc-js/build/src/transport.js'

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

// gRPC keeps connections that nobody wants any more, and some that never were any; this lets them go.

/** A server says its first word as soon as there is a connection, before anything was asked. */
const firstByteTimeoutMs = 5_000

let isConnectPatched = false

/**
 * Guards every connection that gRPC (1.14) opens from here on:
 * - A channel that is closed between two attempts to connect makes one more, and if that succeeds, nobody ever ends it. In an
 *   outage the client opens a new channel with every failure, so the end of an outage left a hundred idle connections.
 * - It waits for ever for a server that takes a connection and says nothing: one that is paused, or a load balancer with
 *   nothing behind it. Each replacement would be one more such connection, for as long as the outage lasts.
 */
export function patchConnect(): void {
  if (isConnectPatched) return
  isConnectPatched = true
  const subchannel = Subchannel.prototype
  const unref = subchannel.unref
  subchannel.unref = function () {
    unref.call(this)
    if (Reflect.get(this, 'refcount') === 0) Reflect.set(this, 'continueConnecting', false)
  }
  const connector = Http2SubchannelConnector.prototype
  const connect: unknown = Reflect.get(connector, 'tcpConnect')
  if (typeof connect !== 'function') throw new Error('This version of @grpc/grpc-js connects otherwise')
  Reflect.set(connector, 'tcpConnect', async function (this: typeof connector, ...args: unknown[]): Promise<Socket> {
    const socket: Socket = await connect.apply(this, args)
    const giveUp = () => {
      if (socket.bytesRead === 0) socket.destroy()
    }
    setTimeout(giveUp, firstByteTimeoutMs).unref()
    return socket
  })
}
