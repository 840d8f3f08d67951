// gRPC keeps connections that nobody wants any more, and some that never were any; this lets them go.
import type { Socket } from 'node:net'
import { Subchannel } from '@grpc/grpc-js/build/src/subchannel.js'
import { Http2SubchannelConnector } from '@grpc/grpc-js/build/src/transport.js'

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
