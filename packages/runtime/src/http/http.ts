// The HTTP server of every app: limits, parsing, validation, errors and the request log.

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
import { closeRequests } from './unknownFields.ts'
import { validateHeaders, validatorCompiler } from './validation.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Error code of the response, for metrics; empty for a success. */
    errorCode: string
    /** Number of invalid credentials in the request, even if another one is valid. */
    invalidCredentials: number
  }
}

const bodyLimitBytes = 256 * 1024
const headerLimitBytes = 16 * 1024
// How long a client may take to send the headers, and a whole request. 256 KiB arrive within 10 s at 26 kB/s. An incomplete
// request takes up memory and a connection.
const headersTimeoutMs = 5_000
const requestTimeoutMs = 10_000
// How often both are checked; Node's default of 30 s would delay them a lot.
const timeoutCheckMs = 1_000
// How long a client may not read a response. Node checks twice, so it takes up to twice as long.
const unreadTimeoutMs = 5_000
const idleTimeoutMs = 65_000
const maxParamLength = 255

/**
 * A Fastify server with every limit set. Every error is returned in the same envelope, whether it comes from a handler, a
 * validator, a body parser, the router or invalid HTTP.
 *
 * Only `application/json` bodies are read, by the strict parser. Each response logs its route pattern, never its URL.
 * @param options `trustProxy`: addresses and ranges of proxies whose `X-Forwarded-For` is trusted;
 *   `maxConnectionsPerAddress`: 0 means no limit, and proxies have none; `methodsOf`: the methods
 *   of a path, which distinguish a wrong method (405) from an unknown path (404)
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
    // The client would take a response written now for that of an earlier request.
    const pending = pendingResponse(socket)
    if (pending === undefined) handleClientError(error, socket, randomUUIDv7())
    else pending.once('close', () => rejectClient(error, socket))
  }
  const http = Fastify({
    loggerInstance: logger,
    childLoggerFactory: (parent, bindings, options) => lazily(() => parent.child(bindings, options)),
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'requestId' }),
    http: {
      maxHeaderSize: headerLimitBytes,
      headersTimeout: headersTimeoutMs,
      connectionsCheckingInterval: timeoutCheckMs,
      // Checked in our hook below, because Node's response would have no body.
      requireHostHeader: false,
      // Node would use the first of two Authorization headers; joined, they are no valid credential.
      joinDuplicateHeaders: true,
    },
    bodyLimit: bodyLimitBytes,
    requestTimeout: requestTimeoutMs,
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
  http.decorateRequest('invalidCredentials', 0)
  http.decorateRequest('credentialKeys', undefined)
  http.decorate('commonHeaders', {})
  limitConnections(
    http.server,
    { max: maxConnections, maxPerAddress: maxConnectionsPerAddress, proxies: trustProxy },
    log,
  )
  pendingResponse = watchPendingResponses(http.server)
  drainOnClose(http)
  readBodyBeforeClosing(http)
  const rejectConnect = (socket: unknown) => socket instanceof Socket && rejectClient(new Error('CONNECT'), socket)
  http.server.on('connect', (_request, socket) => rejectConnect(socket))
  // Node's own response would have no body; the hook below rejects the request instead.
  http.server.on('checkExpectation', (request, response) => http.server.emit('request', request, response))
  http.setValidatorCompiler(validatorCompiler)
  closeRequests(http)
  http.setErrorHandler(handleError)
  http.setNotFoundHandler(handleNoRoute(methodsOf))
  http.removeAllContentTypeParsers()
  limitBodies(http)
  http.addContentTypeParser('application/json', async (request: FastifyRequest, payload: IncomingMessage) => {
    requirePlainBody(request)
    const body = await http.readBody(request, payload, request.routeOptions.bodyLimit ?? bodyLimitBytes)
    return parseStrictJson(decodeUtf8(body))
  })
  traceRequests(http)
  // Asynchronous, so that Node's parser reports an error in the same packet before the response to it is sent.
  http.addHook('onRequest', async (request, reply) => {
    reply.header('x-request-id', request.id)
    validateHeaders(request)
  })
  logResponses(http, log)
  return http
}

function logResponses(http: FastifyInstance, log: Logger): void {
  const requestLog = withoutRedaction(log)
  // Hooks of every request take a callback where they can: a promise costs more than what they do.
  http.addHook('onResponse', (request, reply, done) => {
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
    done()
  })
}

const logMethods: ReadonlySet<string> = new Set(['child', 'trace', 'debug', 'info', 'warn', 'error', 'fatal'])

/** Makes the log of a request when it is first used, because most requests never do. Fastify looks at its methods at once. */
function lazily(create: () => FastifyBaseLogger): FastifyBaseLogger {
  let log: FastifyBaseLogger | undefined
  const member = (name: string): unknown => {
    log ??= create()
    return Reflect.get(log, name)
  }
  const call = (name: string, args: readonly unknown[]): unknown => {
    const method = member(name)
    return typeof method === 'function' ? Reflect.apply(method, log, args) : undefined
  }
  return new Proxy<FastifyBaseLogger>(Object.create(null), {
    get: (_target, name: string) =>
      logMethods.has(name) ? (...args: readonly unknown[]) => call(name, args) : member(name),
  })
}

/** @throws DomainError `unsupported_media_type` for a compressed body (RFC 9110, section 8.4) */
function requirePlainBody({ headers }: FastifyRequest): void {
  const encoding = headers['content-encoding']
  if (encoding !== undefined && encoding.trim().toLowerCase() !== 'identity')
    throw new DomainError('unsupported_media_type', 'The body must be sent without Content-Encoding')
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

function decodeUtf8(bytes: Buffer): string {
  try {
    return utf8.decode(bytes)
  } catch (cause) {
    throw new DomainError('invalid_request', 'The body is not valid UTF-8', undefined, { cause })
  }
}
