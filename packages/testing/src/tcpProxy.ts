// A TCP proxy between a client and a server, to lose answers and connections on purpose.
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { connect, createServer, type Socket } from 'node:net'
import type { Test } from 'tap'

export type TcpProxy = {
  readonly port: number
  /** From now on what the server sends is swallowed; what the client sends still arrives. */
  dropResponses(): void
  /** Lets answers through again and drops the connections on which some were lost. */
  heal(): void
  /** From now on nothing passes on the connections there are, either way, and nobody is told; new ones work. */
  freezeConnections(): void
  /** From now on it is as if the server were gone: connections end, and new ones are refused. */
  refuse(): Promise<void>
  /** Takes connections again, on the same port. */
  accept(): Promise<void>
  /** Resolves as soon as something that the client sent met a frozen connection. */
  requestHeld(): Promise<void>
  /** Resolves as soon as something that the server sent was swallowed. */
  responseDropped(): Promise<void>
}

export async function startTcpProxy(t: Test, targetPort: number): Promise<TcpProxy> {
  const sockets = new Set<Socket>()
  const frozen = new WeakSet<Socket>()
  let isDroppingResponses = false
  const lost = Promise.withResolvers<void>()
  const held = Promise.withResolvers<void>()
  const server = createServer((client) => {
    const upstream = connect(targetPort, '127.0.0.1')
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket
        .on('error', () => {})
        .on('close', () => {
          sockets.delete(socket)
          client.destroy()
          upstream.destroy()
        })
    }
    client.on('data', (chunk) => {
      if (frozen.has(client)) held.resolve()
      else upstream.write(chunk)
    })
    upstream.on('data', (chunk) => {
      if (frozen.has(upstream)) return
      if (isDroppingResponses) lost.resolve()
      else client.write(chunk)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const dropAll = () => {
    for (const socket of sockets) socket.destroy()
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
    freezeConnections() {
      for (const socket of sockets) frozen.add(socket)
    },
    requestHeld: () => held.promise,
    responseDropped: () => lost.promise,
  }
}
