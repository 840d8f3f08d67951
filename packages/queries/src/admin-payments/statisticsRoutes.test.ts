import { addPaymentTo } from '@paylog/projections/testing/logFixture'
import t from 'tap'
import { ada, asAdmin, queryApiHarness } from '../testing/queryApiHarness.ts'

t.test('GET /admin/stats returns the numbers and sums of each interval', async (t) => {
  const { log, project, get } = await queryApiHarness(t)
  addPaymentTo(log, ada)
  addPaymentTo(log, { ...ada, occurred_at: '2026-03-02T10:00:00.000Z', currency: 'USD' })
  await project()
  const none = { count: 0, amount_cents: 0 }
  const common = { provider_id: 'sandbox', payments: { pending: { count: 1, amount_cents: 1000 } } }
  const rest = { received_cents: 0, refunds: none, disputes: none }
  const response = await get('/admin/stats?from=2026-03-01T00:00:00%2B00:00&to=2026-03-03T00:00:00Z', asAdmin)
  t.same(response.json(), {
    success: true,
    data: [
      { from: '2026-03-01T00:00:00.000Z', to: '2026-03-02T00:00:00.000Z', currency: 'EUR', ...common, ...rest },
      { from: '2026-03-02T00:00:00.000Z', to: '2026-03-03T00:00:00.000Z', currency: 'USD', ...common, ...rest },
    ],
  })
  const hourly = await get('/admin/stats?from=2026-03-01T10:30:00Z&to=2026-03-02T10:00:00Z&interval=hour', asAdmin)
  t.same(hourly.json().data, [], 'the payments are before the beginning and at the end')
})

t.test('GET /admin/stats: every invalid parameter is 400 and named', async (t) => {
  const { get } = await queryApiHarness(t)
  const from = '2026-03-01T00:00:00Z'
  const bad: Readonly<Record<string, string>> = {
    '': 'from',
    'to=2026-03-01T00:00:00Z': 'from',
    [`from=${from}`]: 'to',
    [`from=${from}&to=x`]: 'to',
    [`from=2016-12-31T23:59:60Z&to=${from}`]: 'from',
    [`from=${from}&to=${from}`]: 'to',
    [`from=${from}&to=2026-02-01T00:00:00Z`]: 'to',
    [`from=${from}&to=2027-04-05T00:00:00.001Z`]: 'to',
    [`from=${from}&to=2026-03-17T16:00:00.001Z&interval=hour`]: 'to',
    [`from=${from}&to=2026-03-02T00:00:00Z&interval=week`]: 'interval',
  }
  for (const [query, field] of Object.entries(bad)) {
    const response = await get(`/admin/stats?${query}`, asAdmin)
    t.equal(response.statusCode, 400, query)
    t.match(response.json().error, { code: 'invalid_request', details: { fields: [{ field }] } }, query)
  }
  for (const query of ['to=2027-04-05T00:00:00Z', 'to=2026-03-17T16:00:00Z&interval=hour'])
    t.equal((await get(`/admin/stats?from=${from}&${query}`, asAdmin)).statusCode, 200, '400 intervals')
})
