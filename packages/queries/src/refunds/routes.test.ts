// Refunds and disputes of payments over HTTP.
import { randomUUID } from 'node:crypto'
import { recordDispute } from '@paylog/domain/payments/disputes'
import { recordRefund, requestRefund } from '@paylog/domain/payments/refunds'
import { recordStatus } from '@paylog/domain/payments/statusReports'
import { addPaymentTo, guest, type LogFixture, type PaymentFacts } from '@paylog/projections/testing/logFixture'
import t from 'tap'
import { ada, asAda, asAdmin, asGrace, asGuest, grace, queryApiHarness } from '../testing/queryApiHarness.ts'

const at = (minute: number) => `2026-03-01T11:${String(minute).padStart(2, '0')}:00.000Z`
const report = (minute: number, charge: string) => ({
  occurred_at: at(minute),
  provider_time: at(minute),
  provider_event_id: null,
  provider_intent_id: null,
  provider_payment_id: charge,
})

/** A paid payment with two refunds. @returns their ids */
function refundedPayment(log: LogFixture, payer: PaymentFacts) {
  const id = addPaymentTo(log, payer)
  const charge = `ch_${id}`
  const success = { ...report(0, charge), status: 'succeeded' as const, amount_cents: null, currency: null }
  log.decide(id, (state) => recordStatus(success, state))
  const refunds = [randomUUID(), randomUUID()] as const
  for (const [index, refund_id] of refunds.entries()) {
    const command = { refund_id, amount_cents: 100 + index, reason: 'other' as const, note: 'why' }
    log.decide(id, (state) =>
      requestRefund(
        { ...command, occurred_at: at(1 + index), request_fingerprint: null, refund_limit_cents: null },
        state,
      ),
    )
  }
  const outcome = { provider_refund_id: `re_${id}`, amount_cents: 100, currency: 'EUR', status: 'succeeded' as const }
  log.decide(id, (state) => recordRefund({ ...report(3, charge), ...outcome, refund_id: refunds[0] }, state))
  return { id, charge, refunds }
}

t.test(
  'GET /payments/{id}/refunds lists the refunds of a payment, newest first, and each is found alone',
  async (t) => {
    const { log, project, get } = await queryApiHarness(t)
    const { id, refunds } = refundedPayment(log, ada)
    await project()
    const inEuro = { currency: 'EUR', reported_amount_cents: null, reported_currency: null }
    const common = { payment_id: id, ...inEuro, reason: 'other', note: 'why', failure_code: null }
    const expected = [
      {
        ...common,
        ...{ id: refunds[1], amount_cents: 101, status: 'pending', provider_refund_id: null },
        ...{ created_at: at(2), updated_at: at(2) },
      },
      {
        ...common,
        ...{ id: refunds[0], amount_cents: 100, status: 'succeeded', provider_refund_id: `re_${id}` },
        ...{ created_at: at(1), updated_at: at(3) },
      },
    ]
    for (const headers of [asAda, asAdmin]) {
      const list = await get(`/payments/${id}/refunds`, headers)
      t.equal(list.statusCode, 200)
      t.same(list.json(), { success: true, data: expected })
      for (const [index, refund] of expected.entries()) {
        const one = await get(`/payments/${id}/refunds/${refund.id.toUpperCase()}`, headers)
        t.same(one.json().data, refund)
        t.equal(one.headers.etag, index === 0 ? '"4"' : '"5"', 'the revision of its last event')
      }
    }
    t.match((await get(`/payments/${id}`)).json().data, { amount_received_cents: 1000, amount_refunded_cents: 100 })
  },
)

t.test('refunds are 404 for everybody but the owner and administrators, and 401 without a credential', async (t) => {
  const { log, project, get } = await queryApiHarness(t)
  const own = refundedPayment(log, ada)
  const given = refundedPayment(log, { ...grace, guest_email: 'guest@example.com' })
  const unrefunded = addPaymentTo(log, guest('guest@example.com'))
  const anonymous = addPaymentTo(log)
  await project()
  const readers = [
    { headers: asAda, reads: [own.id] },
    { headers: asGrace, reads: [given.id] },
    { headers: asGuest, reads: [given.id, unrefunded] },
    { headers: asAdmin, reads: [own.id, given.id, unrefunded, anonymous] },
  ]
  for (const { headers, reads } of readers)
    for (const id of [own.id, given.id, unrefunded, anonymous, randomUUID(), 'x'])
      t.equal((await get(`/payments/${id}/refunds`, headers)).statusCode, reads.includes(id) ? 200 : 404)
  t.same((await get(`/payments/${unrefunded}/refunds`, asGuest)).json().data, [])
  for (const id of [own.refunds[0], randomUUID(), 'x', given.refunds[0]]) {
    t.equal((await get(`/payments/${own.id}/refunds/${id}`, {})).statusCode, 401)
    t.equal((await get(`/payments/${own.id}/refunds/${id}`, asGrace)).statusCode, 404)
    const isOwn = id === own.refunds[0]
    t.equal((await get(`/payments/${own.id}/refunds/${id}`)).statusCode, isOwn ? 200 : 404, 'a refund of the payment')
  }
  t.equal((await get(`/payments/${own.id}/refunds`, {})).statusCode, 401)
  t.equal((await get(`/payments/x/refunds`, {})).statusCode, 401)
})

t.test('GET /admin/disputes lists disputes, newest first, by status and in pages', async (t) => {
  const { log, project, get } = await queryApiHarness(t)
  for (const [index, status] of (['open', 'won', 'lost', 'open'] as const).entries()) {
    const { id, charge } = refundedPayment(log, ada)
    const money = { amount_cents: 1000, currency: status === 'lost' ? 'usd' : 'eur' }
    const about = { provider_dispute_id: `du_${index}`, provider_status: 'x', reason: 'fraudulent', status }
    const dispute = { ...report(10 + index, charge), ...about, evidence_due_by: at(59), ...money }
    log.decide(id, (state) => recordDispute(dispute, state))
  }
  await project()
  const { data, meta } = (await get('/admin/disputes', asAdmin)).json()
  t.same(meta, { limit: 20, next_cursor: null, total: 4, total_is_exact: true })
  const names = (disputes: { provider_dispute_id: string }[]) => disputes.map((one) => one.provider_dispute_id).join()
  t.equal(names(data), 'du_3,du_2,du_1,du_0')
  const other = { reported_amount_cents: 1000, reported_currency: 'USD' }
  t.match(data[1], { amount_cents: null, currency: 'EUR', ...other }, 'of another currency')
  t.match(data[0], {
    id: String,
    payment_id: String,
    ...{ provider_id: 'sandbox', amount_cents: 1000, currency: 'EUR', status: 'open', reason: 'fraudulent' },
    ...{ evidence_due_by: at(59), created_at: at(13), updated_at: at(13) },
  })
  t.equal(names((await get('/admin/disputes?status=open', asAdmin)).json().data), 'du_3,du_0')
  const first = (await get('/admin/disputes?limit=3', asAdmin)).json()
  const second = await get(`/admin/disputes?limit=3&cursor=${first.meta.next_cursor}`, asAdmin)
  t.equal(names(second.json().data), 'du_0')
  t.equal(second.json().meta.next_cursor, null)
  const otherList = await get(`/admin/disputes?status=open&cursor=${first.meta.next_cursor}`, asAdmin)
  t.equal(otherList.statusCode, 400)
})
