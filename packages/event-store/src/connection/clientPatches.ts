// Patches of @eventstore/db-client and @grpc/grpc-js against crashes and connection leaks.

import type { Socket } from 'node:net'
import streamsGrpc, { type StreamsClient } from '@eventstore/db-client/generated/streams_grpc_pb.js'
import streams, { type BatchAppendResp } from '@eventstore/db-client/generated/streams_pb.js'
import { Subchannel } from '@grpc/grpc-js/build/src/subchannel.js'
import { Http2SubchannelCall } from '@grpc/grpc-js/build/src/subchannel-call.js'
import { Http2SubchannelConnector } from '@grpc/grpc-js/build/src/transport.js'

type BatchCall = ReturnType<StreamsClient['batchAppend']>

let isBatchAppendPatched = false

/**
 * Patches every append stream that this process opens from now on. The client (6.2.1) keeps pending appends in one map for
 * the whole process and has no hook for these bugs:
 * - A response that matches no pending append throws out of an event handler, which ends the process. An error on one
 *   stream drops the pending appends of all streams, so any later response on another stream has that effect.
 * - Writes are queued while a stream is full; if the stream then fails, each becomes an unhandled rejection.
 * - Appends on a stream that the server has ended stay pending for ever.
 * - KurrentDB's error for an event that is too large is unknown to it, so that the append would be repeated.
 */
export function patchBatchAppend(): void {
  if (isBatchAppendPatched) return
  isBatchAppendPatched = true
  patchEncoding()
  patchSending()
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

/**
 * The client encodes each event in base64, decodes that in JavaScript, and does so twice: once to learn the length, by which
 * it splits an append that is too large for one message. Ours never are. Without that, an append takes a third less CPU.
 */
function patchEncoding(): void {
  const { prototype } = streams.BatchAppendReq.ProposedMessage
  const { setData, setCustomMetadata } = prototype
  const bytesOf = (value: string | Uint8Array) => (typeof value === 'string' ? Buffer.from(value, 'base64') : value)
  type Message = typeof prototype
  Object.assign(prototype, {
    setData(this: Message, value: string | Uint8Array) {
      return setData.call(this, bytesOf(value))
    },
    setCustomMetadata(this: Message, value: string | Uint8Array) {
      return setCustomMetadata.call(this, bytesOf(value))
    },
    // Called for the length only; gRPC encodes the whole request.
    serializeBinary(this: Message) {
      return { length: this.getData().length + this.getCustomMetadata().length }
    },
  })
}

/**
 * gRPC hands a message to HTTP/2 when the one before it has left, so that each append takes a turn of the event loop and a
 * system call. Without the wait HTTP/2 sends those together that are there; a failed write ends the call in any case.
 */
function patchSending(): void {
  const { prototype } = Http2SubchannelCall
  const send = prototype.sendMessageWithContext
  prototype.sendMessageWithContext = function ({ callback, ...context }, message) {
    send.call(this, context, message)
    if (callback) process.nextTick(callback)
  }
}

function patchCall(call: BatchCall): void {
  const emit = call.emit.bind(call)
  call.emit = (event: string | symbol, ...args: unknown[]) => {
    if (event !== 'data') return emit(event, ...args)
    renameError(args[0] as BatchAppendResp)
    try {
      return emit(event, ...args)
    } catch {
      // The response matches no pending append, or is unreadable. Its append is repeated after its timeout.
      return true
    }
  }
  const write = call.write.bind(call)
  // Never report a full buffer: the messages are in memory either way, and their callers wait for responses.
  call.write = (message: Parameters<typeof write>[0]) => {
    write(message)
    return true
  }
  call.once('end', () => call.destroy(new Error('The event store closed the append stream')))
}

/** Its details are not those of the known error, but nothing reads them. */
function renameError(response: BatchAppendResp): void {
  const details = response.getError()?.getDetails()
  if (details?.getTypeName() !== 'event_store.client.MaximumAppendEventSizeExceeded') return
  details.setTypeUrl('type.googleapis.com/event_store.client.MaximumAppendSizeExceeded').setValue('')
}

/** An HTTP/2 server sends its settings as soon as it is connected, before any request. */
const firstByteTimeoutMs = 5_000

let isConnectPatched = false

/**
 * Patches every connection that gRPC (1.14) opens from now on:
 * - A channel that is closed between two connection attempts makes one more, and never closes that connection. During an
 *   outage the client opens a channel per failure, so each outage would leave about a hundred idle connections.
 * - gRPC waits for ever for a server that accepts a connection and sends nothing, such as a paused server or a load balancer
 *   without a backend. Each replacement would add one such connection for as long as the outage lasts.
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
  if (typeof connect !== 'function') throw new Error('This version of @grpc/grpc-js has no tcpConnect')
  Reflect.set(connector, 'tcpConnect', async function (this: typeof connector, ...args: unknown[]): Promise<Socket> {
    const socket: Socket = await connect.apply(this, args)
    const giveUp = () => {
      if (socket.bytesRead === 0) socket.destroy()
    }
    setTimeout(giveUp, firstByteTimeoutMs).unref()
    return socket
  })
}
