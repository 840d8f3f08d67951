// The sandbox identity backend over HTTP, for tests that need authenticated callers.
import {
  createSandboxIdentity,
  demoGuestTokens,
  demoSessions,
  type SandboxFault,
  type SandboxGuestToken,
  type SandboxSession,
} from '@paylog/identity/sandboxIdentity'
import type { Test } from 'tap'
import { listen } from './fakeServer.ts'

export type FakeIdentity = {
  readonly authUrl: string
  /** Makes the backend fail in this way from now on; `undefined` ends it. */
  breakWith(fault: SandboxFault | undefined): void
}

/** Starts the backend with the demo callers, those given, and an expired guest token, `expired-guest-token`. */
export async function startFakeIdentity(
  t: Test,
  {
    guestTokens = [],
    sessions = [],
  }: { guestTokens?: readonly SandboxGuestToken[]; sessions?: readonly SandboxSession[] } = {},
): Promise<FakeIdentity> {
  let fault: SandboxFault | undefined
  const server = createSandboxIdentity({
    sessions: [...demoSessions, ...sessions],
    guestTokens: [
      ...demoGuestTokens,
      ...guestTokens,
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
  const authUrl = await listen(t, server)
  return {
    authUrl,
    breakWith(next) {
      fault = next
    },
  }
}
