import { recordDispute } from '@paylog/domain/payments/disputes'
import { recordRefund } from '@paylog/domain/payments/refunds'
import { recordStatus } from '@paylog/domain/payments/statusReports'
import { projections } from '@paylog/projections/registry'
import { addPaymentTo, createLogFixture, type PaymentFacts } from '@paylog/projections/testing/logFixture'
import { readModelDatabase, reapply } from '@paylog/projections/testing/projectionHarness'
import t from 'tap'
import { getStatistics } from './statistics.ts'

const day = (number: number, time = '10:00:00.000') => `2026-03-0${number}T${time}Z`

const report = (occurred_at: string, provider_payment_id: string) => ({
  occurred_at,
  provider_time: occurred_at,
  provider_event_id: null,
  provider_intent_id: null,
  provider_payment_id,
})

t.test('statistics count payments, refunds and disputes by interval, currency and provider', async (t) => {
  const { pool } = await readModelDatabase(t)
  const log = createLogFixture()
  const pay = (facts: PaymentFacts, charge?: string) => {
    const id = addPaymentTo(log, facts)
    const success = { amount_cents: null, currency: null, status: 'succeeded' as const }
    if (charge) log.decide(id, (state) => recordStatus({ ...report(day(1), charge), ...success }, state))
    return id
  }
  const paid = pay({ occurred_at: day(1, '23:59:59.999'), total_cents: 300 }, 'ch_1')
  pay({ occurred_at: day(1), total_cents: 200 }, 'ch_2')
  pay({ occurred_at: day(1), total_cents: 100 })
  pay({ occurred_at: day(1), currency: 'USD' })
  pay({ occurred_at: day(2, '00:00:00.000'), provider_id: 'stripe' })
  const amounts = { refund_id: null, amount_cents: 50, currency: 'eur' }
  for (const [number, status] of (['succeeded', 'failed', 'pending'] as const).entries()) {
    const refund = { ...report(day(2), 'ch_1'), ...amounts, provider_refund_id: `re_${number}`, status }
    log.decide(paid, (state) => recordRefund(refund, state))
  }
  const inOtherCurrency = { ...report(day(2), 'ch_1'), ...amounts, currency: 'usd', status: 'succeeded' as const }
  log.decide(paid, (state) => recordRefund({ ...inOtherCurrency, provider_refund_id: 're_usd' }, state))
  const dispute = { provider_dispute_id: 'du_1', status: 'open' as const, provider_status: 'x', reason: null }
  const owed = { amount_cents: 300, currency: 'EUR' }
  const disputed = { ...report(day(3), 'ch_1'), ...dispute, evidence_due_by: null, ...owed }
  log.decide(paid, (state) => recordDispute(disputed, state))
  for (const projection of projections) await reapply(pool, projection, log)

  const none = { count: 0, amount_cents: 0 }
  const empty = {
    payments: {},
    received_cents: 0,
    refunds: none,
    disputes: none,
    currency: 'EUR',
    provider_id: 'sandbox',
  }
  const interval = (from: string, to: string) => ({ ...empty, from, to })
  const midnight = (number: number) => day(number, '00:00:00.000')
  t.same(await getStatistics(pool, { from: new Date(day(1, '09:00:00.000')), to: new Date(day(5)), interval: 'day' }), [
    {
      ...interval(day(1, '09:00:00.000'), midnight(2)),
      payments: { pending: { count: 1, amount_cents: 100 }, succeeded: { count: 2, amount_cents: 500 } },
      received_cents: 500,
    },
    {
      ...interval(day(1, '09:00:00.000'), midnight(2)),
      currency: 'USD',
      payments: { pending: { count: 1, amount_cents: 1000 } },
    },
    { ...interval(midnight(2), midnight(3)), refunds: { count: 2, amount_cents: 50 } },
    {
      ...interval(midnight(2), midnight(3)),
      provider_id: 'stripe',
      payments: { pending: { count: 1, amount_cents: 1000 } },
    },
    { ...interval(midnight(3), midnight(4)), disputes: { count: 1, amount_cents: 300 } },
  ])
  t.match(
    await getStatistics(pool, { from: new Date(day(1, '23:00:00.000')), to: new Date(day(2)), interval: 'hour' }),
    [
      { from: day(1, '23:00:00.000'), to: midnight(2), payments: { succeeded: { count: 1 } } },
      { from: midnight(2), to: day(2, '01:00:00.000'), provider_id: 'stripe' },
    ],
    'ends are exclusive',
  )
})
