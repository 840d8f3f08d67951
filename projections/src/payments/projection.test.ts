import { userOwner } from '@paylog/domain/actor'
import { recordStatus } from '@paylog/domain/payments/statusReports'
import { readItem } from '@paylog/queries/lists/lists'
import { singlePayment } from '@paylog/queries/payments/queries'
import t from 'tap'
import { addPaymentTo, createLogFixture, type LogFixture, user } from '../testing/logFixture.ts'
import { readModelDatabase, reapply } from '../testing/projectionHarness.ts'
import { payments } from './projection.ts'

const report = {
  provider_time: '2026-03-01T11:00:00.000Z',
  provider_event_id: null,
  provider_intent_id: null,
  provider_payment_id: 'ch_1',
  amount_cents: null,
  currency: null,
}

t.test('the completion time of a payment is set once, even if it is recorded again', async (t) => {
  const { pool } = await readModelDatabase(t)
  const log = createLogFixture()
  const id = addPaymentTo(log, user('u1'))
  const times = ['2026-03-02T00:00:00.000Z', '2026-03-03T00:00:00.000Z']
  for (const occurred_at of times)
    log.decide(id, (state) =>
      recordStatus({ ...report, occurred_at, status: 'succeeded' }, { ...state, status: 'pending' } as ReturnType<
        LogFixture['state']
      >),
    )
  for (const sizes of [[1], [9]]) {
    await pool.query('truncate read_models.payments_v1')
    await reapply(pool, payments, log, sizes)
    const found = await readItem(pool, singlePayment, { id, owner: userOwner('u1') })
    t.equal(found?.item.completed_at, times[0])
  }
})
