import { recordStatus } from '@paylog/domain/payments/statusReports'
import { addPaymentTo } from '@paylog/projections/testing/logFixture'
import t from 'tap'
import { ada, asAda, asAdmin, queryApiHarness } from '../testing/queryApiHarness.ts'

const success = {
  ...{ occurred_at: '2026-02-28T23:30:00.000Z', provider_time: '2026-02-28T23:30:00.000Z', status: 'succeeded' as const },
  ...{ provider_event_id: null, provider_intent_id: null, provider_payment_id: 'ch_1', amount_cents: null, currency: null },
} as const
const unknown = { ours: null, provider: null, difference: null }
const none = { ...unknown, ours: 0 }

t.test('a report has its period, rows, and the position of the log that it was read at [10.5-report-period]', async (t) => {
  const { log, project, get, pool } = await queryApiHarness(t)
  const read = async (path: string) => (await get(`/admin/reports${path}`, asAdmin)).json()
  t.match(await read('/2026-02'), { data: { rows: [], differences: [], position: null, checkpoint: null } })
  const id = addPaymentTo(log, { ...ada, total_cents: 2200 })
  log.decide(id, (state) => recordStatus(success, state))
  await project()
  const row = {
    ...{ provider_id: 'sandbox', currency: 'EUR', payments: 1 },
    ...{ gross_cents: { ...unknown, ours: 2200 }, refunds_cents: none, disputes_cents: none },
    ...{ opening_cents: unknown, fees_cents: unknown, adjustments_cents: unknown, converted_cents: unknown },
    ...{ payouts_cents: unknown, closing_cents: unknown },
  }
  const { data } = await read('/2026-02')
  t.same(
    { ...data, position: null },
    {
      ...{ from: '2026-02-01T00:00:00.000Z', to: '2026-03-01T00:00:00.000Z', time_zone: 'UTC' },
      ...{ rows: [row], differences: [], position: null, checkpoint: null },
    },
  )
  t.match(data.position, /^\d+$/)
  const inBerlin = 'time_zone=Europe/Berlin'
  t.same((await read(`/2026-02?${inBerlin}`)).data.rows, [])
  t.same((await read(`/2026-03?${inBerlin}`)).data.rows, [row])
  t.match((await read(`/2025-12?${inBerlin}`)).data, { from: '2025-11-30T23:00:00.000Z', to: '2025-12-31T23:00:00.000Z' })
  t.same((await read(`?from=2026-02-28&to=2026-03-01`)).data.rows, [row], 'the end is excluded')
  t.same((await read(`?from=2026-03-01&to=2026-03-02`)).data.rows, [])
  t.same((await read(`?from=2026-03-01&to=2026-03-02&${inBerlin}`)).data.rows, [row])
  await pool.query('update read_models.payments_v1 set succeeded_cents = 9007199254740993')
  const { body } = await get('/admin/reports/2026-02', asAdmin)
  t.match(body, '"gross_cents":{"ours":9007199254740993,"provider":null,"difference":null}', 'no digit is lost')
})

t.test('an impossible period of a report is 400, and names what is wrong [10.5-report-bounds]', async (t) => {
  const { get } = await queryApiHarness(t)
  const bad: Readonly<Record<string, string>> = {
    '/2026-13': 'month',
    '/2026-1': 'month',
    '/2026-01-01': 'month',
    '/2026-01?time_zone=Mars': 'time_zone',
    '': 'from',
    '?from=2026-01-01': 'to',
    '?from=2026-01-01&to=2026-02-30': 'to',
    '?from=2026-01-01T00:00:00Z&to=2026-02-01': 'from',
    '?from=2026-01-01&to=2026-01-01': 'to',
    '?from=2026-01-02&to=2026-01-01': 'to',
    '?from=2026-01-01&to=2027-02-06': 'to',
    '?from=2026-01-01&to=2026-02-01&time_zone=%2B02:00': 'time_zone',
  }
  for (const [path, field] of Object.entries(bad)) {
    const response = await get(`/admin/reports${path}`, asAdmin)
    t.equal(response.statusCode, 400, path)
    t.match(response.json().error, { code: 'invalid_request', details: { fields: [{ field }] } }, path)
  }
  t.equal((await get('/admin/reports?from=2026-01-01&to=2027-02-05', asAdmin)).statusCode, 200, '400 days')
  t.equal((await get('/admin/reports/2026-01', asAda)).statusCode, 403)
})
