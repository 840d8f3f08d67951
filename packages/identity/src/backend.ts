// Reads the times of the identity backend, whose form its interface leaves open.

import { DomainError } from '@paylog/domain/errors'
import { Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { Agent, type Dispatcher } from 'undici'

const isoInstant = /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})$/i
/** Below this a number can only be seconds: as milliseconds it would be a time in early 1973. */
const smallestMilliseconds = 100_000_000_000

/**
 * Milliseconds since 1970 of an ISO 8601 time with an offset, or of Unix seconds or milliseconds. Nothing for anything
 * else: a time without an offset could be hours off.
 */
export function readInstant(value: unknown): number | undefined {
  if (typeof value === 'number') return value < smallestMilliseconds ? value * 1000 : value
  if (typeof value !== 'string' || !isoInstant.test(value)) return undefined
  const instant = Date.parse(value)
  return Number.isNaN(instant) ? undefined : instant
}

// One exchange with the identity backend, at the least cost to the process: every request of every caller has one.

export type BackendRequest = Pick<Dispatcher.DispatchOptions, 'origin' | 'path' | 'method' | 'headers'> & {
  readonly body?: string
}
/** `text` is empty for everything but a success: nothing else that the backend says is read. */
export type BackendResponse = {
  readonly status: number
  readonly contentType: string | readonly string[] | undefined
  readonly text: string
}

const utf8 = new TextDecoder()

/**
 * Sends the question once, and hears the answer through undici's own callbacks: its `request()` makes a stream and an
 * abort signal for each, which cost more than the exchange itself.
 *
 * @param timeoutMs for the whole answer, the wait for a free connection included
 * @throws what undici met, or a `TimeoutError`
 */
function sendRequest(agent: Agent, request: BackendRequest, timeoutMs: number): Promise<BackendResponse> {
  const { promise, resolve, reject } = Promise.withResolvers<BackendResponse>()
  let head: Omit<BackendResponse, 'text'> = { status: 0, contentType: undefined }
  let sent: Dispatcher.DispatchController | undefined
  let timeoutError: Error | undefined
  const chunks: Buffer[] = []

  const timer = setTimeout(() => {
    timeoutError = new DOMException('The answer took too long', 'TimeoutError')
    reject(timeoutError)
    // Closes the connection, which makes room for another one. What still waits for room is given up when its turn comes.
    sent?.abort(timeoutError)
  }, timeoutMs)

  agent.dispatch(request, {
    onRequestStart(controller) {
      // Thrown, it is not sent and the connection stays for the next question; `abort` would close it.
      if (timeoutError) throw timeoutError
      sent = controller
    },
    onResponseStart(_controller, status, headers) {
      // An interim answer; the real one follows.
      if (status < 200) return
      head = { status, contentType: headers['content-type'] }
      // The rest is awaited all the same, within the time, so that the connection can be used again.
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

// The two questions to the identity backend, and how its answers are read (interface, section 5).

// Control characters and halves of surrogate pairs are in nobody's name, and Postgres could not keep them.
const Name = Type.String({ pattern: /^[^\p{Cc}\p{Cs}]+$/u, maxLength: 255 })
const Email = Type.String({ pattern: /^[^\s@\p{Cc}\p{Cs}]+@[^\s@\p{Cc}\p{Cs}]+$/u, maxLength: 255 })

const sessionResponse = Compile(
  Type.Object({
    success: Type.Literal(true),
    user: Type.Object({ id: Name, email: Email, userType: Type.Optional(Type.Union([Name, Type.Literal('')])) }),
    session: Type.Object({ expiresAt: Type.Unknown() }),
  }),
)
const tokenResponse = Compile(
  Type.Object({ success: Type.Literal(true), user: Type.Object({ email: Email }), expires_at: Type.Unknown() }),
)
const rejectionResponse = Compile(Type.Object({ success: Type.Literal(false) }))

export type ValidSession = { readonly user_id: string; readonly user_email: string; readonly user_type: string }
export type ValidToken = { readonly guest_email: string }

export type IdentityBackend = {
  /** The user of a session, or nothing when it is not valid. @throws DomainError `identity_unavailable` */
  validateSession(sessionId: string): Promise<ValidSession | undefined>
  /** The e-mail of a guest token, or nothing when it is not valid. @throws DomainError `identity_unavailable` */
  validateToken(token: string): Promise<ValidToken | undefined>
  close(): Promise<void>
}

/** Enough for the requests that a process has under way at once; what is beyond waits within its own time limit. */
const maxConnections = 64
const keepAliveMs = 30_000
/** A valid answer is some hundred bytes. */
const maxResponseBytes = 64 * 1024

const headers = { accept: 'application/json', 'content-type': 'application/json' }

/**
 * Asks the identity backend at `authUrl`, over kept connections, and remembers nothing: a session that is revoked there
 * is refused here at once.
 *
 * @param options `service` is `<service>` of `/auth/<service>/validate`; `timeoutMs` is for the whole answer
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
      // The backend closed a kept connection just when the question was sent; it was not answered, so ask once more.
      if (!isClosedConnection(error)) throw failure(error)
      const leftMs = timeoutMs - (performance.now() - started)
      return await sendRequest(agent, request, leftMs)
        .then(parseResponse)
        .catch((again: unknown) => {
          throw failure(again)
        })
    }
  }

  return {
    async validateSession(sessionId) {
      const body = JSON.stringify({ sessionId })
      const answer = await fetchJson({ origin, path: sessionPath, method: 'POST', headers, body })
      if (rejectionResponse.Check(answer)) return undefined
      if (!sessionResponse.Check(answer)) throw invalidResponse()
      if (isPast(answer.session.expiresAt)) return undefined
      const { id, email, userType } = answer.user
      return { user_id: id, user_email: email, user_type: userType ?? 'user' }
    },
    async validateToken(token) {
      const path = `${tokenPath}?token=${encodeURIComponent(token)}`
      const answer = await fetchJson({ origin, path, method: 'GET', headers })
      if (rejectionResponse.Check(answer)) return undefined
      if (!tokenResponse.Check(answer)) throw invalidResponse()
      return isPast(answer.expires_at) ? undefined : { guest_email: answer.user.email }
    },
    // Unanswered questions are dropped: nobody is left to hear the answer.
    close: () => agent.destroy(),
  }
}

const rejectionBody = Object.freeze({ success: false })

/** @throws SyntaxError, or DomainError `identity_unavailable` */
function parseResponse({ status, contentType, text }: BackendResponse): unknown {
  if (status === 401 || status === 403 || status === 404) return rejectionBody
  if (!isSuccess(status)) throw unavailable(`It answered ${status}`)
  if (!isJson(contentType)) throw unavailable('It answered something else than JSON')
  return JSON.parse(text)
}

/** @throws DomainError `identity_unavailable` for an expiry that cannot be read: whether it is past is not known then. */
function isPast(expiry: unknown): boolean {
  const instant = readInstant(expiry)
  if (instant === undefined) throw invalidResponse()
  return instant <= Date.now()
}

/** A backend that does not say what it sends is believed to send what it was asked for. */
function isJson(contentType: string | readonly string[] | undefined): boolean {
  return contentType === undefined || /^application\/([-.\w]+\+)?json\s*(;|$)/i.test(String(contentType))
}

function isClosedConnection(error: unknown): boolean {
  const code = codeOf(error)
  return code === 'UND_ERR_SOCKET' || code === 'ECONNRESET' || code === 'EPIPE'
}

/** Only the code or the name of an error is kept: its message may quote what the backend said, and that reaches the log. */
function failure(error: unknown): DomainError {
  if (error instanceof DomainError) return error
  return unavailable(
    `It gave no answer that can be read: ${codeOf(error) ?? (error instanceof Error ? error.name : '')}`,
  )
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}

/** @param reason for the operator */
function unavailable(reason: string): DomainError {
  const message = 'The identity backend cannot tell who is calling; try again'
  return new DomainError('identity_unavailable', message, undefined, { cause: new Error(reason) })
}

const invalidResponse = () => unavailable('It gave an answer without the fields of a valid one')
