// An HTTP server that a test listens with, and that goes away with the test.
import { once } from 'node:events'
import type { Server } from 'node:http'
import type { Test } from 'tap'

/** Listens on a free port of this machine. @returns the origin, `http://127.0.0.1:<port>` */
export async function listen(t: Test, server: Server): Promise<string> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.close()
    server.closeAllConnections()
  })
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the port of a TCP server is not known')
  return `http://127.0.0.1:${address.port}`
}
