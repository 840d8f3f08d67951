// The columns of refunds and disputes that later events merge with, although each event has the whole row.
import { recordDispute } from '@paylog/domain/payments/disputes'
import { recordRefund, requestRefund } from '@paylog/domain/payments/refunds'
import { recordStatus } from '@paylog/domain/payments/statusReports'
import t from 'tap'
import { disputes } from '../disputes/projection.ts'
import { addPaymentTo, createLogFixture } from '../testing/logFixture.ts'
import { readModelDatabase, reapply } from '../testing/projectionHarness.ts'
import { refunds } from './projection.ts'

const at = (minute: number) => `2026-03-01T11:0${minute}:00.000Z`
const report = (minute: number) => ({
  occurred_at: at(minute),
  provider_time: at(minute),
  provider_event_id: null,
  provider_intent_id: null,
  provider_payment_id: 'ch_1',
  amount_cents: 100,
  currency: null,
})

t.test('the times of a refund and the money of a dispute stay, in one batch and in several', async (t) => {
  const { pool } = await readModelDatabase(t)
  const log = createLogFixture()
  const id = addPaymentTo(log, { total_cents: 100 })
  log.decide(id, (state) => recordStatus({ ...report(0), status: 'succeeded' }, state))
  const refund_id = '00000000-0000-4000-8000-000000000001'
  const request = {
    occurred_at: at(1),
    refund_id,
    reason: 'other' as const,
    note: null,
    request_fingerprint: null,
    refund_limit_cents: null,
  }
  log.decide(id, (state) => requestRefund(request, state))
  const refund = { refund_id, provider_refund_id: 're_1' }
  log.decide(id, (state) => recordRefund({ ...report(2), ...refund, status: 'succeeded' }, state))
  log.decide(id, (state) => recordRefund({ ...report(3), ...refund, status: 'failed' }, state))
  const dispute = { provider_dispute_id: 'dp_1', reason: null, evidence_due_by: null }
  for (const [minute, status] of [
    [4, 'open'],
    [5, 'won'],
    [6, 'lost'],
  ] as const)
    log.decide(id, (state) => recordDispute({ ...report(minute), ...dispute, status, provider_status: status }, state))
  for (const sizes of [[1], [2], [99]]) {
    await pool.query('truncate read_models.refunds_v1, read_models.disputes_v1')
    await reapply(pool, refunds, log, sizes)
    await reapply(pool, disputes, log, sizes)
    const { rows: found } = await pool.query('select created_at, succeeded_at, returned_at from read_models.refunds')
    const times = { created_at: at(1), succeeded_at: at(2), returned_at: at(3) }
    t.same(found, [Object.fromEntries(Object.entries(times).map(([name, time]) => [name, new Date(time)]))], `${sizes}`)
    const { rows } = await pool.query<{ money: object }>('select money from read_models.disputes')
    t.same(
      rows.map(({ money }) => Object.values(money)),
      [
        [
          { at: at(4), is_taken: true },
          { at: at(5), is_taken: false },
          { at: at(6), is_taken: true },
        ],
      ],
      `${sizes}`,
    )
  }
})
