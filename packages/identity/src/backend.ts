// The two questions to the identity backend, and how its answers are read (interface, section 5).
import { DomainError } from '@paylog/domain/errors'
import { Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { Agent } from 'undici'
import { type BackendResponse, sendRequest, isSuccess, type BackendRequest } from './exchange.ts'
import { readInstant } from './instant.ts'

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
