// Fake identity backend of the access tests. It validates their callers and can simulate faults.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { listen } from '@paylog/testing/fakeServer'
import type { Test } from 'tap'
import { guestTokens, sessions, type Validity } from './people.ts'

/** Never responds, drops the connection, or responds with this. */
export type Fault = 'silent' | 'drop' | { readonly status: number; readonly body: string }

export type FakeIdentityBackend = {
  readonly authUrl: string
  issue(token: string, email: string): void
  expire(token: string, how: Exclude<Validity, 'valid'>): void
  /** `undefined` repairs it. */
  breakWith(fault: Fault | undefined): void
}

const lifetimeMs = 3_600_000

export async function startFakeIdentityBackend(t: Test): Promise<FakeIdentityBackend> {
  const tokens = new Map<string, { email: string; validity: Validity }>(
    guestTokens.map(({ token, ...rest }) => [token, rest]),
  )
  let fault: Fault | undefined

  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://identity.example.com')
    const body = await text(request)
    if (fault === 'silent') return
    if (fault === 'drop') return void request.socket.destroy()
    if (fault !== undefined) return void response.writeHead(fault.status).end(fault.body)
    const found =
      url.pathname === '/auth/token/validate' ? aboutToken(url.searchParams.get('token')) : aboutSession(body)
    response.writeHead(found === undefined ? 401 : 200, { 'content-type': 'application/json' })
    response.end(JSON.stringify(found ?? { success: false }))
  }

  function aboutToken(token: string | null) {
    const known = tokens.get(token ?? '')
    if (known === undefined || known.validity === 'expired') return undefined
    const user = { id: `guest:${token}`, email: known.email, name: 'A guest', userType: 'guest', isVerified: false }
    return { success: true, user, tokenType: 'guest', token_id: 't', expires_at: expiry(known.validity) }
  }

  const server = createServer((request, response) => {
    respond(request, response).catch(() => response.destroy())
  })
  return {
    authUrl: await listen(t, server),
    issue: (token, email) => void tokens.set(token, { email, validity: 'valid' }),
    expire(token, validity) {
      const known = tokens.get(token)
      if (known === undefined) throw new Error(`there is no token ${token}`)
      tokens.set(token, { ...known, validity })
    },
    breakWith(next) {
      fault = next
    },
  }
}

function aboutSession(body: string) {
  const { sessionId } = JSON.parse(body) as { sessionId: unknown }
  const known = sessions.find(({ id }) => id === sessionId)
  if (known === undefined) return undefined
  const { id, user, validity } = known
  const names = { name: 'A User', firstName: 'A', lastName: 'User', isVerified: true }
  return { success: true, user: { ...user, ...names }, session: { id, userId: user.id, expiresAt: expiry(validity) } }
}

const expiry = (validity: Validity) =>
  new Date(Date.now() + (validity === 'valid' ? lifetimeMs : -lifetimeMs)).toISOString()
