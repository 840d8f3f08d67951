// The HTTP server that every app starts from: limits, parsing, validation, errors and the request log.

import { randomUUIDv7 } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { DomainError } from '@paylog/domain/errors'
import Fastify, { type FastifyBaseLogger, type FastifyInstance, type FastifyRequest, LogController } from 'fastify'
import { type Logger, withoutRedaction } from '../telemetry/log.ts'
import { traceRequests } from '../telemetry/spans.ts'
import { limitBodies, parseStrictJson } from './body.ts'
import { limitConnections, type PendingResponse, watchPendingResponses } from './connections.ts'
import { drainOnClose, readBodyBeforeClosing } from './draining.ts'
import { handleClientError, handleError, handleNoRoute } from './errors.ts'
import { validateHeaders, validatorCompiler } from './validation.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** How it was refused, for the figures; empty while all is well. */
    errorCode: string
    /** How many of its credentials were looked at and are not valid, though another one may be. */
    refusedCredentials: number
  }
}

const bodyLimitBytes = 256 * 1024
const headerLimitBytes = 16 * 1024
// How long a client may take to send the headers, and to send a whole request. Nobody needs more than a moment: a body of
// 256 KiB comes within 10 s at 26 kB/s. While it is on its way, it takes up memory and a connection.
const headersTimeoutMs = 5_000
const requestTimeoutMs = 10_000
// How often both are looked at; Node's own default of 30 s would multiply them.
const timeoutCheckMs = 1_000
// How long nothing of a response may be read. Node looks twice, so that it takes up to twice as long.
const unreadTimeoutMs = 5_000
// Longer than a provider call that is repeated twice within one request.
const handlerTimeoutMs = 45_000
const idleTimeoutMs = 65_000
const maxParamLength = 255

/**
 * A Fastify with every limit set that answers every failure in the envelope of design section 4, whether it came from a
 * handler, a validator, a body parser, the router or bytes that were no request at all.
 *
 * Only `application/json` bodies are read, by the strict parser. Each response logs its route pattern, never its URL.
 * @param options `trustProxy`: addresses and ranges of proxies whose `X-Forwarded-For` says who the client is;
 *   `maxConnectionsPerAddress`: 0 is no limit, and proxies have none; `methodsOf`: the methods of a path, which tell a wrong
 *   method from an unknown path
 */
export function createHttp({
  log,
  trustProxy = [],
  maxConnections = 1_000,
  maxConnectionsPerAddress = 0,
  methodsOf = () => [],
}: {
  readonly log: Logger
  readonly trustProxy?: readonly string[]
  readonly maxConnections?: number
  readonly maxConnectionsPerAddress?: number
  readonly methodsOf?: (path: string) => readonly string[]
}): FastifyInstance {
  const logger: FastifyBaseLogger = log
  let pendingResponse: PendingResponse = () => undefined
  const rejectClient = (error: NodeJS.ErrnoException, socket: Socket) => {
    // An answer written now would be taken for that of an earlier request.
    const pending = pendingResponse(socket)
    if (pending === undefined) handleClientError(error, socket, randomUUIDv7())
    else pending.once('close', () => rejectClient(error, socket))
  }
  const http = Fastify({
    loggerInstance: logger,
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'requestId' }),
    http: {
      maxHeaderSize: headerLimitBytes,
      headersTimeout: headersTimeoutMs,
      connectionsCheckingInterval: timeoutCheckMs,
      // Answered by our own hook below: Node's answer would have no body.
      requireHostHeader: false,
      // Node would take the first of two Authorization headers; joined they are seen, and are no credential.
      joinDuplicateHeaders: true,
    },
    bodyLimit: bodyLimitBytes,
    requestTimeout: requestTimeoutMs,
    handlerTimeout: handlerTimeoutMs,
    connectionTimeout: unreadTimeoutMs,
    keepAliveTimeout: idleTimeoutMs,
    forceCloseConnections: 'idle',
    // A request that arrives on an open connection while we drain is still served; the connection closes after it.
    return503OnClosing: false,
    trustProxy: trustProxy.length === 0 ? false : [...trustProxy],
    routerOptions: { maxParamLength },
    requestIdHeader: false,
    genReqId: () => randomUUIDv7(),
    frameworkErrors: handleError,
    clientErrorHandler: rejectClient,
  })
  http.decorateRequest('errorCode', '')
  http.decorateRequest('refusedCredentials', 0)
  limitConnections(
    http.server,
    { max: maxConnections, maxPerAddress: maxConnectionsPerAddress, proxies: trustProxy },
    log,
  )
  pendingResponse = watchPendingResponses(http.server)
  drainOnClose(http)
  readBodyBeforeClosing(http)
  http.server.on(
    'connect',
    (_request, socket) => socket instanceof Socket && rejectClient(new Error('CONNECT'), socket),
  )
  // Left alone, Node would answer without a body; the hook below does it better.
  http.server.on('checkExpectation', (request, response) => http.server.emit('request', request, response))
  http.setValidatorCompiler(validatorCompiler)
  http.setErrorHandler(handleError)
  http.setNotFoundHandler(handleNoRoute(methodsOf))
  http.removeAllContentTypeParsers()
  limitBodies(http)
  http.addContentTypeParser('application/json', async (request: FastifyRequest, payload: IncomingMessage) => {
    const body = await http.readBody(request, payload, request.routeOptions.bodyLimit ?? bodyLimitBytes)
    return parseStrictJson(decodeUtf8(body))
  })
  traceRequests(http)
  http.addHook('onRequest', async (request, reply) => {
    reply.header('x-request-id', request.id)
    validateHeaders(request)
  })
  const requestLog = withoutRedaction(log)
  http.addHook('onResponse', async (request, reply) => {
    requestLog.info(
      {
        requestId: request.id,
        method: request.method,
        route: request.routeOptions.url ?? null,
        status: reply.statusCode,
        ms: Math.round(reply.elapsedTime),
      },
      'request',
    )
  })
  return http
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

function decodeUtf8(bytes: Buffer): string {
  try {
    return utf8.decode(bytes)
  } catch (cause) {
    throw new DomainError('invalid_request', 'The body is not valid UTF-8', undefined, { cause })
  }
}
