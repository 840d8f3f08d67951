// A webhook endpoint for tests: a real HTTP server with scripted responses.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import type { Test } from 'tap'
import { listen } from './fakeServer.ts'

export type ReceivedWebhook = {
  /** The `webhook-id`. */
  readonly id: string
  readonly headers: IncomingMessage['headers']
  readonly body: string
  /** In terms of `performance.now()`. */
  readonly at: number
}

export type FakeEndpoint = { readonly url: string; readonly received: readonly ReceivedWebhook[] }

/** @param respond writes the response; gets the request's index, from 0. Default: 200 */
export async function startFakeEndpoint(
  t: Test,
  respond: (response: ServerResponse, index: number, request: IncomingMessage) => void = (response) =>
    response.end('ok'),
): Promise<FakeEndpoint> {
  const received: ReceivedWebhook[] = []
  let requests = 0
  const server = createServer((request, response) => {
    const index = requests++
    text(request).then(
      (body) => {
        const { headers } = request
        received.push({ id: String(headers['webhook-id']), headers, body, at: performance.now() })
        respond(response, index, request)
      },
      () => response.destroy(),
    )
  })
  return { url: `${await listen(t, server)}/hook`, received }
}
