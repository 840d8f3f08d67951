// HTTP client for the identity backend, and the validation of its responses (interface, section 5).
import { DomainError } from '@paylog/domain/errors'
import { StatedEmail } from '@paylog/domain/fields'
import { Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { Agent, type Dispatcher } from 'undici'

// No control characters and no unpaired surrogates: Postgres could not store them.
const Name = Type.String({ pattern: /^[^\p{Cc}\p{Cs}]+$/u, maxLength: 255 })

const sessionResponse = Compile(
  Type.Object({
    success: Type.Literal(true),
    user: Type.Object({ id: Name, email: StatedEmail, userType: Type.Optional(Type.Union([Name, Type.Literal('')])) }),
    session: Type.Object({ expiresAt: Type.Unknown() }),
  }),
)
const tokenResponse = Compile(
  Type.Object({ success: Type.Literal(true), user: Type.Object({ email: StatedEmail }), expires_at: Type.Unknown() }),
)
const rejectionResponse = Compile(Type.Object({ success: Type.Literal(false) }))

export type ValidSession = { readonly user_id: string; readonly user_email: string; readonly user_type: string }
export type ValidToken = { readonly guest_email: string }

export type IdentityBackend = {
  /** @returns the user of the session, or undefined when it is not valid. @throws DomainError `identity_unavailable` */
  validateSession(sessionId: string): Promise<ValidSession | undefined>
  /** @returns the e-mail of the guest token, or undefined when it is not valid. @throws DomainError `identity_unavailable` */
  validateToken(token: string): Promise<ValidToken | undefined>
  close(): Promise<void>
}

/** Requests beyond this wait for a connection, within their own time limit. */
const maxConnections = 64
const keepAliveMs = 30_000
/** A valid response is a few hundred bytes. */
const maxResponseBytes = 64 * 1024

const headers = { accept: 'application/json', 'content-type': 'application/json' }

/**
 * Creates a client of the identity backend at `authUrl`. It keeps connections alive but caches no results, so that a
 * revoked session is rejected immediately.
 *
 * @param options `service` is `<service>` of `/auth/<service>/validate`; `timeoutMs` limits each validation
 */
export function createIdentityBackend(options: {
  readonly authUrl: string
  readonly service: string
  readonly timeoutMs: number
}): IdentityBackend {
  const { service, timeoutMs } = options
  const base = options.authUrl.replace(/\/+$/, '')
  const agent = new Agent({
    connections: maxConnections,
    keepAliveTimeout: keepAliveMs,
    connectTimeout: timeoutMs,
    maxResponseSize: maxResponseBytes,
  })

  const { origin, pathname: sessionPath } = new URL(`${base}/auth/${encodeURIComponent(service)}/validate`)
  const { pathname: tokenPath } = new URL(`${base}/auth/token/validate`)

  async function fetchJson(request: BackendRequest): Promise<unknown> {
    const started = performance.now()
    try {
      return parseResponse(await sendRequest(agent, request, timeoutMs))
    } catch (error) {
      // The backend closed a kept-alive connection just as we sent the request. Validation is idempotent, so retry once.
      if (!isClosedConnection(error)) throw failure(error)
      const leftMs = timeoutMs - (performance.now() - started)
      return await sendRequest(agent, request, leftMs)
        .then(parseResponse)
        .catch((retryError: unknown) => {
          throw failure(retryError)
        })
    }
  }

  return {
    async validateSession(sessionId) {
      const body = JSON.stringify({ sessionId })
      const response = await fetchJson({ origin, path: sessionPath, method: 'POST', headers, body })
      if (rejectionResponse.Check(response)) return undefined
      if (!sessionResponse.Check(response)) throw invalidResponse()
      if (isPast(response.session.expiresAt)) return undefined
      const { id, email, userType } = response.user
      return { user_id: id, user_email: email, user_type: userType ?? 'user' }
    },
    async validateToken(token) {
      const path = `${tokenPath}?token=${encodeURIComponent(token)}`
      const response = await fetchJson({ origin, path, method: 'GET', headers })
      if (rejectionResponse.Check(response)) return undefined
      if (!tokenResponse.Check(response)) throw invalidResponse()
      return isPast(response.expires_at) ? undefined : { guest_email: response.user.email }
    },
    // Drops pending requests, whose callers have disconnected.
    close: () => agent.destroy(),
  }
}

type BackendRequest = Pick<Dispatcher.DispatchOptions, 'origin' | 'path' | 'method' | 'headers'> & {
  readonly body?: string
}
/** `text` is empty unless the status is a success: we read no other bodies. */
type BackendResponse = {
  readonly status: number
  readonly contentType: string | readonly string[] | undefined
  readonly text: string
}

const utf8 = new TextDecoder()

/**
 * Sends the request once. It uses undici's own callbacks because every API request comes through here, and the stream and
 * abort signal that `request()` creates cost more than the exchange itself.
 *
 * @param timeoutMs limits the whole exchange, including the wait for a free connection
 * @throws undici's error, or a `TimeoutError`
 */
function sendRequest(agent: Agent, request: BackendRequest, timeoutMs: number): Promise<BackendResponse> {
  const { promise, resolve, reject } = Promise.withResolvers<BackendResponse>()
  let head: Omit<BackendResponse, 'text'> = { status: 0, contentType: undefined }
  let sent: Dispatcher.DispatchController | undefined
  let timeoutError: Error | undefined
  const chunks: Buffer[] = []

  const timer = setTimeout(() => {
    timeoutError = new DOMException('The identity backend timed out', 'TimeoutError')
    reject(timeoutError)
    // Closes the connection, so that a waiting request can have a new one. A waiting request is dropped in onRequestStart.
    sent?.abort(timeoutError)
  }, timeoutMs)

  agent.dispatch(request, {
    onRequestStart(controller) {
      // Throwing cancels the request and keeps the connection for the next one; `abort` would close it.
      if (timeoutError) throw timeoutError
      sent = controller
    },
    onResponseStart(_controller, status, headers) {
      // An interim (1xx) response; the final one follows.
      if (status < 200) return
      head = { status, contentType: headers['content-type'] }
      // We still read the rest, within the time limit, so that the connection can be reused.
      if (!isSuccess(status)) resolve({ ...head, text: '' })
    },
    onResponseData(_controller, chunk) {
      chunks.push(chunk)
    },
    onResponseEnd() {
      clearTimeout(timer)
      if (isSuccess(head.status)) resolve({ ...head, text: utf8.decode(Buffer.concat(chunks)) })
    },
    onResponseError(_controller, error) {
      clearTimeout(timer)
      reject(error)
    },
  })
  return promise
}

const isSuccess = (status: number) => status >= 200 && status <= 299

const rejectionBody = Object.freeze({ success: false })

/** @throws SyntaxError, or DomainError `identity_unavailable` */
function parseResponse({ status, contentType, text }: BackendResponse): unknown {
  if (status === 401 || status === 403 || status === 404) return rejectionBody
  if (!isSuccess(status)) throw unavailable(`The response has status ${status}`)
  if (!isJson(contentType)) throw unavailable('The response is not JSON')
  return JSON.parse(text)
}

/** @throws DomainError `identity_unavailable` for an expiry that cannot be parsed */
function isPast(expiry: unknown): boolean {
  const instant = parseInstant(expiry)
  if (instant === undefined) throw invalidResponse()
  return instant <= Date.now()
}

const isoInstant = /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})$/i
/** A smaller number can only be seconds: as milliseconds it would be a time before March 1973. */
const smallestMilliseconds = 100_000_000_000

/**
 * Parses an expiry, whose form the interface leaves open: an ISO 8601 time with an offset, or Unix seconds or milliseconds.
 * @returns milliseconds since 1970; undefined for anything else, including a time without an offset, which could be hours off
 */
export function parseInstant(value: unknown): number | undefined {
  if (typeof value === 'number') return value < smallestMilliseconds ? value * 1000 : value
  if (typeof value !== 'string' || !isoInstant.test(value)) return undefined
  const instant = Date.parse(value)
  return Number.isNaN(instant) ? undefined : instant
}

/** A response without a content type is assumed to be JSON. */
function isJson(contentType: string | readonly string[] | undefined): boolean {
  return contentType === undefined || /^application\/([-.\w]+\+)?json\s*(;|$)/i.test(String(contentType))
}

function isClosedConnection(error: unknown): boolean {
  const code = codeOf(error)
  return code === 'UND_ERR_SOCKET' || code === 'ECONNRESET' || code === 'EPIPE'
}

/** Keeps only the error's code or name: its message may quote the response, and would reach the log. */
function failure(error: unknown): DomainError {
  if (error instanceof DomainError) return error
  return unavailable(`There is no readable response: ${codeOf(error) ?? (error instanceof Error ? error.name : '')}`)
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}

/** @param reason for the operator */
function unavailable(reason: string): DomainError {
  const message = 'The identity backend is unavailable; try again'
  return new DomainError('identity_unavailable', message, undefined, { cause: new Error(reason) })
}

const invalidResponse = () => unavailable('The response lacks required fields')
