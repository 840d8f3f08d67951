// Turns errors into responses: status, code and envelope.
import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { DomainError, type ErrorCode, errorStatus } from '@paylog/domain/errors'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Static } from 'typebox'
import { isDatabaseUnavailable } from '../postgres/databaseErrors.ts'
import type { ErrorResponse } from './openApiSchemas.ts'

type HttpError = { status: number; code: ErrorCode; message: string; details?: Readonly<Record<string, unknown>> }

/** Fastify's error handler, for every error of a request. */
export function handleError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const httpError = isClientGone(request) ? clientGone : preferBodyTooLarge(httpErrorOf(error), request)
  request.errorCode = httpError.code
  const isElection = httpError.code === 'event_store_unavailable'
  if (isLoadShedding(error)) reply.header('retry-after', retryAfterSeconds)
  if (isElection) reply.header('retry-after', electionSeconds)
  if (isLoadShedding(error)) request.log.warn({ code: httpError.code, reason: httpError.message }, 'request rejected')
  // The event store reports an outage once, however many requests fail in it.
  else if (isElection) request.log.debug({ err: error, code: httpError.code }, 'request failed')
  else if (httpError.status >= 500) request.log.error({ err: error, code: httpError.code }, 'request failed')
  else request.log.debug({ code: httpError.code, reason: httpError.message }, 'request rejected')
  // Also set here, because the hooks that set them do not run for an invalid URL.
  reply.headers({ 'x-request-id': request.id, ...request.server.commonHeaders })
  return reply.code(httpError.status).send(errorBody(httpError, request.id))
}

const retryAfterSeconds = 5
/** A cluster of the event store elects another leader in 1 to 7 s. */
const electionSeconds = 2

const clientGone = createHttpError('invalid_request', 'The request is incomplete')

/** The client disconnected before its request was complete, which looks like a lost connection of ours. */
function isClientGone({ raw }: FastifyRequest): boolean {
  return raw.destroyed && !raw.complete
}

/** Overload is not a failure, and logging a stack trace per rejected request would make it worse. */
function isLoadShedding(error: unknown): boolean {
  return error instanceof DomainError && error.code === 'service_unavailable' && error.cause === undefined
}

/** Fastify checks the content type first, but a body that is too large is reported as that. */
function preferBodyTooLarge(httpError: HttpError, { headers, routeOptions }: FastifyRequest): HttpError {
  const isTooLarge = Number(headers['content-length']) > (routeOptions.bodyLimit ?? Number.POSITIVE_INFINITY)
  return httpError.code === 'unsupported_media_type' && isTooLarge ? bodyTooLarge : httpError
}

/**
 * Responds to a request without a route: 405 with `Allow` when its path has other methods, 404 otherwise. HEAD and OPTIONS are
 * 404, as they are where a path has no GET and where CORS is off.
 * @param methodsOf the methods of a path, served by this process or another one
 */
export const handleNoRoute =
  (methodsOf: (path: string) => readonly string[]) =>
  (request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const { method, url } = request
    const allowed = methodsOf(url.split('?', 1)[0] ?? '')
    if (allowed.length === 0 || [...allowed, 'HEAD', 'OPTIONS'].includes(method)) return handleNotFound(request, reply)
    reply.header('allow', allowed.join(', '))
    const message = `The method ${method} is not allowed here; this path has ${allowed.join(', ')}`
    return handleError(new DomainError('method_not_allowed', message), request, reply)
  }

/** Responds to an unknown path. */
export function handleNotFound(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  return handleError(new DomainError('not_found', 'Not found'), request, reply)
}

/** Responds to invalid HTTP directly on the socket, and closes it. */
export function handleClientError(error: NodeJS.ErrnoException, socket: Socket, requestId: string): void {
  if (socket.writable && error.code !== 'ECONNRESET') {
    const httpError = connectionError(error.code)
    const body = JSON.stringify(errorBody(httpError, requestId))
    socket.write(
      `HTTP/1.1 ${httpError.status} ${STATUS_CODES[httpError.status]}\r\nContent-Type: application/json; charset=utf-8\r\n` +
        `Content-Length: ${Buffer.byteLength(body)}\r\nX-Request-Id: ${requestId}\r\nConnection: close\r\n\r\n${body}`,
    )
  }
  socket.destroySoon()
}

function errorBody({ code, message, details }: HttpError, requestId: string): Static<typeof ErrorResponse> {
  return { success: false, error: { code, message, ...(details && { details }), request_id: requestId } }
}

function httpErrorOf(error: unknown): HttpError {
  if (error instanceof DomainError) {
    const { status, code, message, details } = error
    if (code === 'internal_error') return internalError
    return { status, code, message, ...(details && { details }) }
  }
  if (isDatabaseUnavailable(error))
    return createHttpError('service_unavailable', 'The service is not available at the moment')
  return (error instanceof Error && frameworkError(error)) || internalError
}

const bodyTooLarge = createHttpError('body_too_large', 'The body is too large')
const internalError = { status: 500, code: 'internal_error', message: 'Something went wrong on our side' } as const

// Fastify's own messages quote header values and URLs, so every response has one of our messages.
function frameworkError(error: Error & { code?: unknown; statusCode?: unknown }): HttpError | undefined {
  switch (error.code) {
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
    case 'FST_ERR_CTP_INVALID_TYPE':
      return createHttpError('unsupported_media_type', 'The body must be sent as application/json')
    case 'FST_ERR_MAX_PARAM_LENGTH':
      return createHttpError('not_found', 'Not found')
  }
  switch (error.statusCode) {
    case 404:
      return createHttpError('not_found', 'Not found')
    case 429:
      return createHttpError('rate_limited', 'Too many requests')
    case 503:
      return createHttpError('service_unavailable', 'The service is not available at the moment')
  }
  const isClientError = typeof error.statusCode === 'number' && error.statusCode >= 400 && error.statusCode < 500
  return isClientError ? createHttpError('invalid_request', 'The request is malformed') : undefined
}

function connectionError(code: string | undefined): HttpError {
  if (code === 'HPE_HEADER_OVERFLOW')
    return { ...createHttpError('invalid_request', 'The headers are too large'), status: 431 }
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return { ...createHttpError('invalid_request', 'The request was not sent in time'), status: 408 }
  }
  return createHttpError('invalid_request', 'This is not an HTTP request')
}

function createHttpError(code: ErrorCode, message: string): HttpError {
  return { status: errorStatus[code], code, message }
}
