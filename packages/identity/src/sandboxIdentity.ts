// A fake identity backend for local mode and tests, with a fixed list of sessions and guest tokens.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'

/** With `expires_at: null` the session never expires: every response gives a time one hour ahead. */
export type SandboxSession = {
  readonly session_id: string
  readonly user: { readonly id: string; readonly email: string; readonly name: string; readonly userType: string }
  readonly expires_at: string | null
}
export type SandboxGuestToken = {
  readonly token: string
  readonly email: string
  readonly name: string
  readonly expires_at: string | null
}

/** How the backend misbehaves: drops the connection, never responds, or sends this response. */
export type SandboxFault = 'drop' | 'silent' | { readonly status: number; readonly body: string }

const lifetimeMs = 3_600_000
const maxRequestLength = 16 * 1024

/**
 * Serves `POST /auth/<service>/validate` and `GET /auth/token/validate` like the identity backend (interface, section 5).
 * The caller starts listening and closes it.
 *
 * @param options `fault` is called before every response, so that a test can break and restore the backend
 */
export function createSandboxIdentity(options: {
  readonly sessions: readonly SandboxSession[]
  readonly guestTokens: readonly SandboxGuestToken[]
  readonly now: () => number
  readonly fault?: () => SandboxFault | undefined
}): Server {
  const { sessions, guestTokens, now, fault } = options
  const sessionsById = new Map(sessions.map((session) => [session.session_id, session]))
  const expiry = (expires_at: string | null) => expires_at ?? new Date(now() + lifetimeMs).toISOString()
  const isPast = (expires_at: string | null) => expires_at !== null && Date.parse(expires_at) <= now()

  function sessionResponse(requestBody: string): SandboxResponse {
    const known = sessionsById.get(sessionIdIn(requestBody) ?? '')
    if (known === undefined || isPast(known.expires_at)) return invalidResponse
    const [firstName, lastName] = known.user.name.split(' ')
    return {
      status: 200,
      body: {
        success: true,
        user: { ...known.user, firstName, lastName, isVerified: true },
        session: { id: known.session_id, userId: known.user.id, expiresAt: expiry(known.expires_at) },
      },
    }
  }

  function tokenResponse(token: string | null): SandboxResponse {
    const known = guestTokens.find((candidate) => candidate.token === token)
    if (known === undefined || isPast(known.expires_at)) return invalidResponse
    return {
      status: 200,
      body: {
        success: true,
        user: {
          id: `guest:${known.email}`,
          email: known.email,
          name: known.name,
          userType: 'guest',
          isVerified: false,
        },
        tokenType: 'guest',
        token_id: `token:${known.email}`,
        expires_at: expiry(known.expires_at),
      },
    }
  }

  async function handle(request: IncomingMessage): Promise<SandboxResponse> {
    const url = new URL(request.url ?? '/', 'http://identity.invalid')
    if (request.method === 'GET' && url.pathname === '/auth/token/validate')
      return tokenResponse(url.searchParams.get('token'))
    if (request.method === 'POST' && /^\/auth\/[^/]+\/validate$/.test(url.pathname)) {
      if (Number(request.headers['content-length'] ?? 0) > maxRequestLength) return { status: 413, body: {} }
      return sessionResponse(await text(request))
    }
    return { status: 404, body: { success: false } }
  }

  return createServer((request, response) => {
    const broken = fault?.()
    if (broken === 'silent') return
    if (broken === 'drop') return void request.socket.destroy()
    if (broken !== undefined) return respond(response, broken.status, broken.body)
    handle(request).then(
      ({ status, body }) => respond(response, status, JSON.stringify(body)),
      () => response.destroy(),
    )
  })
}

type SandboxResponse = { readonly status: number; readonly body: object }

const invalidResponse: SandboxResponse = { status: 401, body: { success: false } }

function respond(response: ServerResponse, status: number, body: string): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(body)
}

function sessionIdIn(requestBody: string): string | undefined {
  try {
    const parsed: unknown = JSON.parse(requestBody)
    const hasSessionId = typeof parsed === 'object' && parsed !== null && 'sessionId' in parsed
    return hasSessionId && typeof parsed.sessionId === 'string' ? parsed.sessionId : undefined
  } catch {
    return undefined
  }
}

/** Invented users of local mode, which only the sandbox backend accepts. */
export const demoSessions: readonly SandboxSession[] = [
  {
    session_id: 'demo-session',
    user: {
      id: '00000000-0000-4000-8000-000000000001',
      email: 'ada@example.com',
      name: 'Ada Example',
      userType: 'user',
    },
    expires_at: null,
  },
  {
    session_id: 'demo-session-2',
    user: {
      id: '00000000-0000-4000-8000-000000000002',
      email: 'grace@example.com',
      name: 'Grace Example',
      userType: 'user',
    },
    expires_at: null,
  },
  {
    session_id: 'demo-admin-session',
    user: {
      id: '00000000-0000-4000-8000-000000000003',
      email: 'admin@example.com',
      name: 'Admin Example',
      userType: 'admin',
    },
    expires_at: null,
  },
]

export const demoGuestTokens: readonly SandboxGuestToken[] = [
  { token: 'demo-guest-token', email: 'guest@example.com', name: 'Guest Example', expires_at: null },
]

/** Of a link to the console: it signs in the demo's administrator. Browsers do not send it to the server. */
export const demoConsoleFragment = demoSessions
  .filter(({ user }) => user.userType === 'admin')
  .map(({ session_id }) => `#session=${session_id}`)
  .join('')
