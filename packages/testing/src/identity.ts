// The sandbox identity backend over HTTP, for tests that need callers.
import { once } from 'node:events'
import { demoGuestTokens, demoSessions } from '@paylog/identity/demoCredentials'
import { createSandboxIdentity, type SandboxFault } from '@paylog/identity/sandboxIdentity'
import type { Test } from 'tap'

export type TestIdentity = {
  readonly authUrl: string
  /** From now on the backend misbehaves like this; nothing heals it. */
  breakWith(fault: SandboxFault | undefined): void
}

/** Starts the backend with the demo callers and an expired guest token, `expired-guest-token`. */
export async function startIdentity(t: Test): Promise<TestIdentity> {
  let fault: SandboxFault | undefined
  const server = createSandboxIdentity({
    sessions: demoSessions,
    guestTokens: [
      ...demoGuestTokens,
      {
        token: 'expired-guest-token',
        email: 'guest@example.com',
        name: 'Guest Example',
        expires_at: '2020-01-01T00:00:00.000Z',
      },
    ],
    now: Date.now,
    fault: () => fault,
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.close()
    server.closeAllConnections()
  })
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the port of a TCP server is not known')
  return {
    authUrl: `http://127.0.0.1:${address.port}`,
    breakWith(next) {
      fault = next
    },
  }
}
