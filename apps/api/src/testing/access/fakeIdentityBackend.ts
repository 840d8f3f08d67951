// Identity backend of the access tests: it knows their callers, and can simulate faults.
import { createSandboxIdentity, type SandboxFault } from '@paylog/identity/sandboxIdentity'
import { listen } from '@paylog/testing/fakeServer'
import type { Test } from 'tap'
import { guestTokens, sessions, type Validity } from './people.ts'

export type FakeIdentityBackend = Awaited<ReturnType<typeof startFakeIdentityBackend>>

const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString()

/** The backend's clock stands still in 1970, so it rejects only what expired then. */
const expiries: Readonly<Record<Validity, string>> = {
  valid: inDays(1),
  expired: new Date(0).toISOString(),
  'expired by its time': inDays(-1),
}

function guestToken(token: string, email: string, validity: Validity) {
  return { token, email, name: 'A guest', expires_at: expiries[validity] }
}

export async function startFakeIdentityBackend(t: Test) {
  const tokens = guestTokens.map(({ token, email, validity }) => guestToken(token, email, validity))
  let fault: SandboxFault | undefined
  const server = createSandboxIdentity({
    sessions: sessions.map(({ id, user, validity }) => ({
      session_id: id,
      user: { ...user, name: 'A User' },
      expires_at: expiries[validity],
    })),
    guestTokens: tokens,
    now: () => 0,
    fault: () => fault,
  })
  return {
    authUrl: await listen(t, server),
    issue: (token: string, email: string) => void tokens.push(guestToken(token, email, 'valid')),
    expire(token: string, validity: Exclude<Validity, 'valid'>): void {
      const known = tokens.find((each) => each.token === token)
      if (known === undefined) throw new Error(`there is no token ${token}`)
      known.expires_at = expiries[validity]
    },
    /** `undefined` repairs it. */
    breakWith(next: SandboxFault | undefined): void {
      fault = next
    },
  }
}
