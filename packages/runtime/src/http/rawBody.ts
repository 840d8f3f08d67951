// Bodies as the bytes that were sent, for whoever has to verify a signature over them.
import type { FastifyInstance } from 'fastify'

const bodyLimitBytes = 1024 * 1024

/**
 * Inside the scope (plugin) it is called in, a body of any content type, or of none, arrives as a `Buffer` of at most 1 MiB.
 * A request without a body has `undefined`.
 */
export function rawBody(scope: FastifyInstance): void {
  scope.removeAllContentTypeParsers()
  // One that is not well-formed would be refused before any parser is asked.
  scope.addHook('onRequest', async ({ headers }) => {
    delete headers['content-type']
  })
  scope.addContentTypeParser(
    '*',
    { parseAs: 'buffer', bodyLimit: bodyLimitBytes },
    async (_request: unknown, body: Buffer) => body,
  )
}
