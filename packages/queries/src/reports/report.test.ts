import { recordDispute } from '@paylog/domain/payments/disputes'
import { recordRefund } from '@paylog/domain/payments/refunds'
import { recordStatus } from '@paylog/domain/payments/statusReports'
import { projections } from '@paylog/projections/registry'
import { addPaymentTo, createLogFixture, type LogFixture, type PaymentFacts } from '@paylog/projections/testing/logFixture'
import { readModelDatabase, reapply } from '@paylog/projections/testing/projectionHarness'
import t, { type Test } from 'tap'
import { getReport } from './report.ts'

const day = (month: number, number: number, time = '12:00:00.000') =>
  `2026-${String(month).padStart(2, '0')}-${String(number).padStart(2, '0')}T${time}Z`

const report = (occurred_at: string, provider_payment_id: string) => ({
  occurred_at,
  provider_time: occurred_at,
  provider_event_id: null,
  provider_intent_id: null,
  provider_payment_id,
})

type Status = 'succeeded' | 'canceled'

/** A payment that ends at a time. @returns its id */
function pay(log: LogFixture, charge: string, at: string, facts: PaymentFacts = {}, amount_cents: number | null = null) {
  const id = addPaymentTo(log, { occurred_at: day(1, 1), total_cents: 1000, ...facts })
  end(log, id, charge, at, 'succeeded', amount_cents)
  return id
}

function end(log: LogFixture, id: string, charge: string, at: string, status: Status, amount_cents: number | null) {
  log.decide(id, (state) => recordStatus({ ...report(at, charge), status, amount_cents, currency: null }, state))
}

function refund(log: LogFixture, id: string, at: string, status: 'pending' | 'succeeded' | 'failed', cents = 100) {
  const facts = { refund_id: null, provider_refund_id: `re_${id}`, amount_cents: cents, currency: null, status }
  log.decide(id, (state) => recordRefund({ ...report(at, `ch_${id}`), ...facts }, state))
}

function dispute(log: LogFixture, id: string, at: string, status: 'open' | 'won' | 'lost', provider_status: string = status) {
  const facts = { provider_dispute_id: `du_${id}`, reason: null, evidence_due_by: null, amount_cents: 300, currency: null }
  log.decide(id, (state) => recordDispute({ ...report(at, `ch_${id}`), ...facts, status, provider_status }, state))
}

/** The sums of our side in each month: payments, gross, refunds and disputes. */
async function months(t: Test, log: LogFixture) {
  const { pool } = await readModelDatabase(t)
  for (const projection of projections) await reapply(pool, projection, log)
  const of = async (from: string, to: string) => {
    const rows = await getReport(pool, { from: new Date(from), to: new Date(to) })
    return rows.map(({ provider_id, currency, payments, gross_cents, refunds_cents, disputes_cents }) => [
      `${provider_id} ${currency}`,
      payments,
      ...[gross_cents, refunds_cents, disputes_cents].map(({ ours }) => Number(ours)),
    ])
  }
  const first = (month: number) => day(month, 1, '00:00:00.000')
  return { pool, of, month: (number: number) => of(first(number), first(number + 1)) }
}

const eur = 'sandbox EUR'

t.test('a payment counts when it succeeded, with what was received, by provider and currency [10.5-report]', async (t) => {
  const log = createLogFixture()
  pay(log, 'ch_1', day(1, 31, '23:59:59.999'))
  pay(log, 'ch_2', day(2, 1, '00:00:00.000'))
  pay(log, 'ch_3', day(2, 2), { capture_method: 'manual' }, 400)
  pay(log, 'ch_4', day(2, 3), { currency: 'JPY' })
  pay(log, 'ch_5', day(2, 3), { provider_id: 'stripe' })
  addPaymentTo(log, { occurred_at: day(2, 1), total_cents: 5000 })
  const { month, of } = await months(t, log)
  t.same(await month(1), [[eur, 1, 1000, 0, 0]], 'the last millisecond')
  t.same(await month(2), [
    [eur, 2, 1400, 0, 0],
    ['sandbox JPY', 1, 1000, 0, 0],
    ['stripe EUR', 1, 1000, 0, 0],
  ])
  t.same(await month(3), [])
  t.same(await of(day(2, 3, '12:00:00.000'), day(2, 3, '12:00:00.001')), [
    ['sandbox JPY', 1, 1000, 0, 0],
    ['stripe EUR', 1, 1000, 0, 0],
  ])
})

t.test('money that came after a cancellation counts with the canceled payment, which is no success', async (t) => {
  const log = createLogFixture()
  const id = addPaymentTo(log, { occurred_at: day(1, 1), total_cents: 1000 })
  end(log, id, 'ch_1', day(1, 5), 'canceled', null)
  end(log, id, 'ch_1', day(2, 5), 'succeeded', 1000)
  const unpaid = addPaymentTo(log, { occurred_at: day(1, 1), total_cents: 1000 })
  end(log, unpaid, 'ch_2', day(1, 5), 'canceled', null)
  const { month } = await months(t, log)
  t.same(await month(1), [[eur, 0, 1000, 0, 0]])
})

t.test('a refund counts when it succeeded, and comes back when it failed afterwards [10.5-report-refunds]', async (t) => {
  const log = createLogFixture()
  const refunded = pay(log, 'ch_1', day(1, 5))
  refund(log, refunded, day(1, 6), 'pending')
  refund(log, refunded, day(2, 6), 'succeeded')
  refund(log, refunded, day(3, 6), 'failed')
  const rejected = pay(log, 'ch_2', day(1, 5))
  refund(log, rejected, day(1, 6), 'pending')
  refund(log, rejected, day(2, 6), 'failed')
  const { month } = await months(t, log)
  t.same(await month(1), [[eur, 2, 2000, 0, 0]])
  t.same(await month(2), [[eur, 0, 0, -100, 0]])
  t.same(await month(3), [[eur, 0, 0, 100, 0]])
})

t.test('a dispute takes its money when it is opened, and gives it back when it is won, as often as that happens [10.5-report-disputes]', async (t) => {
  const log = createLogFixture()
  const won = pay(log, 'ch_1', day(1, 5))
  dispute(log, won, day(2, 5), 'open')
  dispute(log, won, day(2, 6), 'open', 'under_review')
  dispute(log, won, day(3, 5), 'won')
  dispute(log, won, day(4, 5), 'lost')
  const inquiry = pay(log, 'ch_2', day(1, 5))
  dispute(log, inquiry, day(2, 5), 'open', 'warning_needs_response')
  dispute(log, inquiry, day(5, 5), 'open', 'needs_response')
  const closed = pay(log, 'ch_3', day(1, 5))
  dispute(log, closed, day(2, 5), 'open', 'warning_needs_response')
  dispute(log, closed, day(3, 5), 'won', 'warning_closed')
  const atOnce = pay(log, 'ch_4', day(1, 5))
  dispute(log, atOnce, day(6, 5), 'lost')
  const { month, of } = await months(t, log)
  t.same(await month(1), [[eur, 4, 4000, 0, 0]])
  for (const [number, cents] of [
    [2, -300],
    [3, 300],
    [4, -300],
    [5, -300],
    [6, -300],
  ] as const)
    t.same(await month(number), [[eur, 0, 0, 0, cents]], `month ${number}`)
  t.same(await of(day(1, 1), day(12, 1)), [[eur, 4, 4000, 0, -900]])
})

t.test('PayPal takes the money of a dispute by a reversal, which is a refund', async (t) => {
  const log = createLogFixture()
  const id = pay(log, 'ch_1', day(1, 5), { provider_id: 'paypal' })
  dispute(log, id, day(1, 6), 'open')
  dispute(log, id, day(1, 7), 'lost')
  refund(log, id, day(1, 7), 'succeeded', 300)
  const { month } = await months(t, log)
  t.same(await month(1), [['paypal EUR', 1, 1000, -300, 0]])
})

t.test('sums beyond 2^53 are exact, and what nobody knows is null [10.5-report-unknown]', async (t) => {
  const log = createLogFixture()
  pay(log, 'ch_1', day(1, 5), { total_cents: 999_999_999_999 })
  const { pool } = await months(t, log)
  const { rows } = await pool.query<{ names: string }>(
    `select string_agg(quote_ident(attname), ', ' order by attnum) as names from pg_attribute
     where attrelid = 'read_models.payments_v1'::regclass and attnum > 1 and not attisdropped`,
  )
  await pool.query(
    `insert into read_models.payments_v1 (id, ${rows[0]?.names})
     select gen_random_uuid(), ${rows[0]?.names} from read_models.payments_v1, generate_series(1, 9999)`,
  )
  const [row] = await getReport(pool, { from: new Date(day(1, 1)), to: new Date(day(2, 1)) })
  const unknown = { ours: null, provider: null, difference: null }
  const none = { ...unknown, ours: 0n }
  t.same(row, {
    ...{ provider_id: 'sandbox', currency: 'EUR', payments: 10_000 },
    gross_cents: { ...unknown, ours: 9_999_999_999_990_000n },
    ...{ refunds_cents: none, disputes_cents: none, opening_cents: unknown, fees_cents: unknown },
    ...{ adjustments_cents: unknown, converted_cents: unknown, payouts_cents: unknown, closing_cents: unknown },
  })
})
