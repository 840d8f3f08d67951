// An identity backend on a port, and the callers that it identifies.
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Test } from 'tap'
import { createIdentity } from '../identity.ts'
import { parseRights } from '../rightsVariable.ts'
import {
  createSandboxIdentity,
  demoGuestTokens,
  demoRights,
  demoSessions,
  type SandboxFault,
} from '../sandboxIdentity.ts'

export async function listen(t: Test, server: Server): Promise<string> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

export function identityAt(t: Test, authUrl: string, timeoutMs = 2_000) {
  const identity = createIdentity({
    authUrl,
    service: 'payments',
    adminUserTypes: ['admin', 'root'],
    rights: parseRights(demoRights),
    timeoutMs,
  })
  t.teardown(() => identity.close())
  return (headers: IncomingHttpHeaders, query: Record<string, unknown> = {}) => identity.actorOf({ headers, query })
}

/** Starts the sandbox backend. @returns its requests, and a switch for faults */
export async function sandbox(t: Test, timeoutMs?: number) {
  const requests: string[] = []
  const state: { fault: SandboxFault | undefined } = { fault: undefined }
  const expired = demoSessions
    .slice(0, 1)
    .map((session) => ({ ...session, session_id: 'expired', expires_at: '2020-01-01T00:00:00Z' }))
  const server = createSandboxIdentity({
    sessions: [...demoSessions, ...expired],
    guestTokens: [
      ...demoGuestTokens,
      { token: 'stale', email: 'g@example.com', name: 'G', expires_at: '2020-01-01T00:00:00Z' },
    ],
    now: Date.now,
    fault: () => state.fault,
  })
  server.on('request', (request) => requests.push(`${request.method} ${request.url}`))
  const actorOf = identityAt(t, await listen(t, server), timeoutMs)
  return { actorOf, requests, state }
}

/** A backend that always sends this response. */
export async function startBackendResponding(t: Test, status: number, body: unknown, timeoutMs?: number) {
  const listener: RequestListener = (_, response) =>
    response.writeHead(status).end(typeof body === 'string' ? body : JSON.stringify(body))
  return identityAt(t, await listen(t, createServer(listener)), timeoutMs)
}
