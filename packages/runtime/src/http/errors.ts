// The one place where a failure becomes an answer: status, code and envelope.
import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { DomainError, type ErrorCode, errorStatus } from '@paylog/domain/errors'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Static } from 'typebox'
import { isDatabaseAway } from '../postgres/databaseFailure.ts'
import type { ErrorAnswer } from './openApiParts.ts'

type Refusal = { status: number; code: ErrorCode; message: string; details?: Readonly<Record<string, unknown>> }

/** Fastify's error handler: everything that was thrown on the way to an answer ends here. */
export function handleError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const refusal = hasLeft(request) ? gone : firstToSay(refusalOf(error), request)
  request.errorCode = refusal.code
  if (isRefusedByChoice(error)) reply.header('retry-after', retryAfterSeconds)
  if (isRefusedByChoice(error)) request.log.warn({ code: refusal.code, reason: refusal.message }, 'request refused')
  else if (refusal.status >= 500) request.log.error({ err: error, code: refusal.code }, 'request failed')
  else request.log.debug({ code: refusal.code, reason: refusal.message }, 'request refused')
  // Set here once more: a URL that the router could not read has not passed the hook that sets it.
  return reply.code(refusal.status).header('x-request-id', request.id).send(errorBody(refusal, request.id))
}

const retryAfterSeconds = 5

const gone = refuse('invalid_request', 'The request was not sent to its end')

/** The client is gone in the middle of its request, which looks like a connection of ours that was cut. */
function hasLeft({ raw }: FastifyRequest): boolean {
  return raw.destroyed && !raw.complete
}

/** Nothing has failed: there are too many at the moment, and a stack for each of them would make it worse. */
function isRefusedByChoice(error: unknown): boolean {
  return error instanceof DomainError && error.code === 'service_unavailable' && error.cause === undefined
}

/** Of a body that is too large, its type is not looked at; Fastify looks at that first. */
function firstToSay(refusal: Refusal, { headers, routeOptions }: FastifyRequest): Refusal {
  const isTooLarge = Number(headers['content-length']) > (routeOptions.bodyLimit ?? Number.POSITIVE_INFINITY)
  return refusal.code === 'unsupported_media_type' && isTooLarge ? bodyTooLarge : refusal
}

/** Answers a path that does not exist, and a method that a path does not have. */
export function handleNotFound(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  return handleError(new DomainError('not_found', 'Nothing is here'), request, reply)
}

/** Answers bytes that never became a request, on the bare socket, then closes it. */
export function handleClientError(error: NodeJS.ErrnoException, socket: Socket, requestId: string): void {
  if (socket.writable && error.code !== 'ECONNRESET') {
    const refusal = connectionRefusal(error.code)
    const body = JSON.stringify(errorBody(refusal, requestId))
    socket.write(
      `HTTP/1.1 ${refusal.status} ${STATUS_CODES[refusal.status]}\r\nContent-Type: application/json; charset=utf-8\r\n` +
        `Content-Length: ${Buffer.byteLength(body)}\r\nX-Request-Id: ${requestId}\r\nConnection: close\r\n\r\n${body}`,
    )
  }
  socket.destroySoon()
}

function errorBody({ code, message, details }: Refusal, requestId: string): Static<typeof ErrorAnswer> {
  return { success: false, error: { code, message, ...(details && { details }), request_id: requestId } }
}

function refusalOf(error: unknown): Refusal {
  if (error instanceof DomainError) {
    const { status, code, message, details } = error
    if (code === 'internal_error') return internalError
    return { status, code, message, ...(details && { details }) }
  }
  if (isDatabaseAway(error)) return refuse('service_unavailable', 'The service is not available at the moment')
  return (error instanceof Error && frameworkRefusal(error)) || internalError
}

const bodyTooLarge = refuse('body_too_large', 'The body is too large')
const internalError = { status: 500, code: 'internal_error', message: 'Something went wrong on our side' } as const

// Fastify's own messages quote header values and URLs, so every answer has a message of ours.
function frameworkRefusal(error: Error & { code?: unknown; statusCode?: unknown }): Refusal | undefined {
  switch (error.code) {
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
    case 'FST_ERR_CTP_INVALID_TYPE':
      return refuse('unsupported_media_type', 'The body must be sent as application/json')
    case 'FST_ERR_MAX_PARAM_LENGTH':
      return refuse('not_found', 'Nothing is here')
    case 'FST_ERR_HANDLER_TIMEOUT':
      return refuse('service_unavailable', 'The request took too long')
  }
  switch (error.statusCode) {
    case 404:
      return refuse('not_found', 'Nothing is here')
    case 429:
      return refuse('rate_limited', 'Too many requests')
    case 503:
      return refuse('service_unavailable', 'The service is not available at the moment')
  }
  const isRefusal = typeof error.statusCode === 'number' && error.statusCode >= 400 && error.statusCode < 500
  return isRefusal ? refuse('invalid_request', 'The request is malformed') : undefined
}

function connectionRefusal(code: string | undefined): Refusal {
  if (code === 'HPE_HEADER_OVERFLOW') return { ...refuse('invalid_request', 'The headers are too large'), status: 431 }
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return { ...refuse('invalid_request', 'The request was not sent in time'), status: 408 }
  }
  return refuse('invalid_request', 'This is not an HTTP request')
}

function refuse(code: ErrorCode, message: string): Refusal {
  return { status: errorStatus[code], code, message }
}
