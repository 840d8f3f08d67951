// Room: worker. An operator's endpoint for tests: a real HTTP server that answers as it is told.
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import type { Test } from 'tap'

export type ReceivedWebhook = {
  readonly id: string
  readonly headers: IncomingMessage['headers']
  readonly body: string
  readonly at: number
}

/** @param answer gets the number of the request, from 0; without one every request is answered 200 */
export async function createEndpoint(
  t: Test,
  answer: (response: ServerResponse, index: number, request: IncomingMessage) => void = (response) =>
    response.end('ok'),
): Promise<{ readonly url: string; readonly received: readonly ReceivedWebhook[] }> {
  const received: ReceivedWebhook[] = []
  let requests = 0
  const server = createServer((request, response) => {
    const index = requests++
    text(request).then(
      (body) => {
        const { headers } = request
        received.push({ id: String(headers['webhook-id']), headers, body, at: performance.now() })
        answer(response, index, request)
      },
      () => response.destroy(),
    )
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.close()
    server.closeAllConnections()
  })
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the port of a TCP server is not known')
  return { url: `http://127.0.0.1:${address.port}/hook`, received }
}
