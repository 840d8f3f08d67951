// Which requests of a connection have no answer yet, because several can be under way on one.
import type { Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** The answer that has to be through before anything else is written to a connection. */
export type PendingResponse = (socket: Socket) => ServerResponse | undefined

/** Keeps an eye on a server's requests. Those that were not sent to their end are owed nothing that has not begun. */
export function watchPendingResponses(server: Server): PendingResponse {
  const open = new WeakMap<Socket, Set<ServerResponse>>()
  server.on('request', ({ socket }, response) => {
    const responses = open.get(socket) ?? new Set()
    open.set(socket, responses.add(response))
    response.once('close', () => responses.delete(response))
  })
  return (socket) => [...(open.get(socket) ?? [])].findLast(({ req, headersSent }) => req.complete || headersSent)
}
