// A TCP proxy that loses responses and connections on purpose.
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { connect, createServer, type Socket } from 'node:net'
import type { Test } from 'tap'

export type TcpProxy = {
  readonly port: number
  /** Drops everything that the server sends from now on; the client's data still arrives. */
  dropResponses(): void
  /** Forwards responses again and closes the existing connections. */
  heal(): void
  /** Silently stops forwarding on the existing connections, both ways; new connections work. */
  freezeConnections(): void
  /** Behaves like a suspended server: accepts connections, and says nothing on any. */
  hang(): void
  /** Behaves like a stopped server: closes connections and refuses new ones. */
  refuse(): Promise<void>
  /** Accepts connections again, on the same port. */
  accept(): Promise<void>
  /** Resolves when the client has sent something on a frozen connection. */
  requestHeld(): Promise<void>
  /** Resolves when a response has been dropped. */
  responseDropped(): Promise<void>
}

export async function startTcpProxy(t: Test, targetPort: number): Promise<TcpProxy> {
  const sockets = new Set<Socket>()
  const frozen = new WeakSet<Socket>()
  let isDroppingResponses = false
  let isHanging = false
  const droppedResponse = Promise.withResolvers<void>()
  const heldRequest = Promise.withResolvers<void>()
  const server = createServer((client) => {
    const upstream = connect(targetPort, '127.0.0.1')
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      if (isHanging) frozen.add(socket)
      socket
        .on('error', () => {})
        .on('close', () => {
          sockets.delete(socket)
          client.destroy()
          upstream.destroy()
        })
    }
    client.on('data', (chunk) => {
      if (frozen.has(client)) heldRequest.resolve()
      else upstream.write(chunk)
    })
    upstream.on('data', (chunk) => {
      if (frozen.has(upstream)) return
      if (isDroppingResponses) droppedResponse.resolve()
      else client.write(chunk)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const dropAll = () => {
    for (const socket of sockets) socket.destroy()
  }
  const freezeConnections = () => {
    for (const socket of sockets) frozen.add(socket)
  }
  t.teardown(() => {
    dropAll()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return {
    port,
    async refuse() {
      const closed = once(server, 'close')
      server.close()
      dropAll()
      await closed
    },
    async accept() {
      server.listen(port, '127.0.0.1')
      await once(server, 'listening')
    },
    dropResponses() {
      isDroppingResponses = true
    },
    heal() {
      isDroppingResponses = false
      dropAll()
    },
    freezeConnections,
    hang() {
      isHanging = true
      freezeConnections()
    },
    requestHeld: () => heldRequest.promise,
    responseDropped: () => droppedResponse.promise,
  }
}
