// Hooks for routes whose body is optional.
import type { FastifyRequest } from 'fastify'

/** An `onRequest` hook for clients that send `content-type: application/json` without a body, which does not parse as JSON. */
export async function allowEmptyBody({ headers }: FastifyRequest): Promise<void> {
  const isEmpty = headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) === 0
  if (isEmpty) delete headers['content-type']
}

/** A `preValidation` hook for bodies whose fields are all optional, so that the body is too. */
export async function defaultBody(request: FastifyRequest): Promise<void> {
  if (request.body === undefined) request.body = {}
}
