// Bodies as the bytes that were sent, for whoever has to verify a signature over them.
import type { IncomingMessage } from 'node:http'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { tooLargeError } from './body.ts'

const rawBodyLimitBytes = 1024 * 1024

/**
 * Inside the scope (plugin) it is called in, a body of any content type, or of none, arrives as a `Buffer` of at most 1 MiB.
 * A request without a body has `undefined`.
 */
export function rawBody(scope: FastifyInstance): void {
  scope.removeAllContentTypeParsers()
  // One that is not well-formed would be refused before any parser is asked.
  scope.addHook('onRequest', async ({ headers }) => {
    // Before a route looks at a signature: 413 comes before 400.
    if (Number(headers['content-length']) > rawBodyLimitBytes) throw tooLargeError()
    delete headers['content-type']
  })
  scope.addContentTypeParser('*', (request: FastifyRequest, payload: IncomingMessage) =>
    scope.readBody(request, payload, rawBodyLimitBytes),
  )
}
