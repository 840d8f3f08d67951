import t from 'tap'
import { operatorHarness } from '../testing/operatorHarness.ts'

t.test('GET /admin/me has the caller and their rights, and is 403 for who has none', async (t) => {
  const operator = await operatorHarness(t)
  const me = (session: string) => operator.get('/admin/me', { 'x-session-id': session })
  t.same((await me('demo-support-session')).json(), {
    success: true,
    data: {
      user: { id: '00000000-0000-4000-8000-000000000004', email: 'support@example.com', user_type: 'support' },
      rights: ['read', 'refund'],
      refund_limit_cents: 50_000,
    },
  })
  t.match((await me('demo-admin-session')).json().data, {
    user: { user_type: 'admin' },
    rights: ['read', 'refund', 'operate', 'export', 'privacy', 'charge'],
    refund_limit_cents: null,
  })
  const none = await me('demo-session')
  t.equal(none.statusCode, 403)
  t.match(none.json(), {
    error: { code: 'forbidden', details: { right: 'read or refund or operate or export or privacy or charge' } },
  })
  t.equal((await operator.get('/admin/me', {})).statusCode, 401)
  t.equal((await operator.get('/admin/me', { 'x-guest-token': 'demo-guest-token' })).statusCode, 403)
})
