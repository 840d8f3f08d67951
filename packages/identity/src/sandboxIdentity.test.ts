import { once } from 'node:events'
import t from 'tap'
import { createSandboxIdentity } from './sandboxIdentity.ts'

const now = Date.parse('2026-01-01T00:00:00.000Z')
const anHourAhead = '2026-01-01T01:00:00.000Z'
const user = { id: 'u1', email: 'ada@example.com', name: 'Ada Example', userType: 'customer' }
const backend = createSandboxIdentity({
  sessions: [{ session_id: 's1', user, expires_at: null }],
  guestTokens: [{ token: 'g1', email: 'guest@example.com', name: 'Guest', expires_at: null }],
  now: () => now,
})
backend.listen(0, '127.0.0.1')
await once(backend, 'listening')
t.teardown(() => {
  backend.closeAllConnections()
  backend.close()
})
const address = backend.address()
const authUrl = `http://127.0.0.1:${typeof address === 'object' ? address?.port : address}`

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
