// A figure of a report is the sum of the list behind it.
import { recordDispute } from '@paylog/domain/payments/disputes'
import { recordRefund } from '@paylog/domain/payments/refunds'
import { recordStatus } from '@paylog/domain/payments/statusReports'
import { addPaymentTo, type LogFixture } from '@paylog/projections/testing/logFixture'
import t from 'tap'
import { ada, asAdmin, queryApiHarness } from '../testing/queryApiHarness.ts'

const march = '2026-03-15T10:00:00.000Z'
const april = '2026-04-15T10:00:00.000Z'
const zone = 'Europe/Berlin'
/** In the zone it is the first of April. */
const lastHour = '2026-03-31T22:30:00.000Z'

const report = (occurred_at: string, provider_payment_id: string) => ({
  occurred_at,
  provider_time: occurred_at,
  provider_event_id: null,
  provider_intent_id: null,
  provider_payment_id,
})

function pay(log: LogFixture, charge: string, total_cents: number, at: string): string {
  const id = addPaymentTo(log, { ...ada, occurred_at: march, total_cents })
  const success = { amount_cents: null, currency: null, status: 'succeeded' as const }
  log.decide(id, (state) => recordStatus({ ...report(at, charge), ...success }, state))
  return id
}

function refund(log: LogFixture, payment: string, charge: string, at: string, status: 'succeeded' | 'failed'): void {
  const facts = { refund_id: null, provider_refund_id: `re_${charge}`, amount_cents: 100, currency: null, status }
  log.decide(payment, (state) => recordRefund({ ...report(at, charge), ...facts }, state))
}

function dispute(log: LogFixture, payment: string, charge: string, at: string, status: 'open' | 'won' | 'lost'): void {
  const facts = { provider_dispute_id: `dp_${charge}`, status, provider_status: status, reason: null }
  const money = { evidence_due_by: null, amount_cents: 300, currency: null }
  log.decide(payment, (state) => recordDispute({ ...report(at, charge), ...facts, ...money }, state))
}

type Rows = readonly { amount_cents: number; amount_received_cents: number; [time: string]: unknown }[]

t.test('each figure of a report is the sum of the list of the same period, provider and currency', async (t) => {
  const { log, project, get } = await queryApiHarness(t)
  const paid = pay(log, 'ch_1', 1_000, march)
  pay(log, 'ch_2', 500, lastHour)
  addPaymentTo(log, { ...ada, occurred_at: march, total_cents: 700 })
  const other = pay(log, 'ch_3', 900, april)
  refund(log, paid, 'ch_1', march, 'succeeded')
  refund(log, other, 'ch_3', april, 'succeeded')
  // The money of a refund in March comes back in April.
  refund(log, paid, 'ch_1', april, 'failed')
  dispute(log, paid, 'ch_1', march, 'open')
  dispute(log, paid, 'ch_1', april, 'won')
  dispute(log, other, 'ch_3', april, 'lost')
  await project()

  const rowsOf = async (path: string): Promise<Rows> => (await get(path, asAdmin)).json().data
  for (const [month, expected] of [
    ['2026-03', { payments: 1, gross: 1_000, refunds: -100, disputes: -300 }],
    ['2026-04', { payments: 2, gross: 1_400, refunds: 0, disputes: 0 }],
  ] as const) {
    const { from, to, rows } = (await get(`/admin/reports/${month}?time_zone=${zone}`, asAdmin)).json().data
    const [{ payments, gross_cents, refunds_cents, disputes_cents }] = rows
    const figures = { payments, gross: gross_cents.ours, refunds: refunds_cents.ours, disputes: disputes_cents.ours }
    t.same(figures, expected, month)

    const isWithin = (time: unknown) => typeof time === 'string' && time >= from && time < to
    const moved = (list: Rows, out: string, back: string) =>
      list.reduce(
        (sum, row) => sum + (isWithin(row[back]) ? row.amount_cents : 0) - (isWithin(row[out]) ? row.amount_cents : 0),
        0,
      )
    const filter = `reported_in=${from}/${to}&provider_id=sandbox&currency=EUR`
    const received = await rowsOf(`/admin/payments?${filter}`)
    t.equal(received.length, payments)
    t.equal(
      received.reduce((sum, row) => sum + row.amount_received_cents, 0),
      figures.gross,
    )
    t.equal(moved(await rowsOf(`/admin/refunds?${filter}`), 'succeeded_at', 'returned_at'), figures.refunds)
    t.equal(moved(await rowsOf(`/admin/disputes?${filter}`), 'taken_at', 'given_back_at'), figures.disputes)
  }
})

t.test('a report can be that of one provider and currency', async (t) => {
  const { log, project, get } = await queryApiHarness(t)
  pay(log, 'ch_1', 1_000, march)
  await project()
  for (const [only, count] of [
    ['provider_id=sandbox&currency=eur', 1],
    ['currency=USD', 0],
    ['provider_id=stripe', 0],
  ] as const)
    for (const period of ['/2026-03?', '?from=2026-03-01&to=2026-04-01&'])
      t.equal((await get(`/admin/reports${period}${only}`, asAdmin)).json().data.rows.length, count, `${period}${only}`)
})

t.test('reported_in: what is no period is 400 and named', async (t) => {
  const { get } = await queryApiHarness(t)
  const from = '2026-03-01T00:00:00Z'
  for (const list of ['payments', 'refunds', 'disputes'])
    for (const value of [
      '',
      from,
      `${from}/`,
      `${from}/2026-04-01`,
      `${from}/2026-13-01T00:00:00Z`,
      `${from}/${from}/x`,
    ]) {
      const response = await get(`/admin/${list}?reported_in=${encodeURIComponent(value)}`, asAdmin)
      t.equal(response.statusCode, 400, `${list} ${value}`)
      t.match(response.json().error.details, { fields: [{ field: 'reported_in' }] })
    }
})
