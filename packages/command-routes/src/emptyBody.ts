// Lets a request come without a body, whatever type it says that the body has.
import type { FastifyRequest } from 'fastify'

/** An `onRequest` hook: many clients send `content-type: application/json` with every request, and an empty text is no JSON. */
export async function allowEmptyBody({ headers }: FastifyRequest): Promise<void> {
  const isEmpty = headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) === 0
  if (isEmpty) delete headers['content-type']
}
