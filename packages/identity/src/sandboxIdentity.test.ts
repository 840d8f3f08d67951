import t from 'tap'
import { createSandboxIdentity } from './sandboxIdentity.ts'
import { listen } from './testing/identityHarness.ts'

const now = Date.parse('2026-01-01T00:00:00.000Z')
const anHourAhead = '2026-01-01T01:00:00.000Z'
const user = { id: 'u1', email: 'ada@example.com', name: 'Ada Example', userType: 'customer' }
const backend = createSandboxIdentity({
  sessions: [{ session_id: 's1', user, expires_at: null }],
  guestTokens: [{ token: 'g1', email: 'guest@example.com', name: 'Guest', expires_at: null }],
  now: () => now,
})
const authUrl = await listen(t, backend)

t.test('the sandbox returns every field of the interface for a session [5-session-call]', async (t) => {
  const request = { method: 'POST', body: '{"sessionId":"s1"}', headers: { 'content-type': 'application/json' } }
  t.same(await (await fetch(`${authUrl}/auth/payments/validate`, request)).json(), {
    success: true,
    user: { ...user, firstName: 'Ada', lastName: 'Example', isVerified: true },
    session: { id: 's1', userId: 'u1', expiresAt: anHourAhead },
  })
})

t.test(
  'the sandbox returns every field of the interface for a guest token, expiring in an hour [5-token-lifetime]',
  async (t) => {
    t.same(await (await fetch(`${authUrl}/auth/token/validate?token=g1`)).json(), {
      success: true,
      user: {
        id: 'guest:guest@example.com',
        email: 'guest@example.com',
        name: 'Guest',
        userType: 'guest',
        isVerified: false,
      },
      tokenType: 'guest',
      token_id: 'token:guest@example.com',
      expires_at: anHourAhead,
    })
  },
)
