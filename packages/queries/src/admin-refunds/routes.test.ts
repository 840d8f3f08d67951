// The administrators' lists of refunds and disputes over HTTP.
import { recordDispute } from '@paylog/domain/payments/disputes'
import { recordRefund } from '@paylog/domain/payments/refunds'
import { recordStatus } from '@paylog/domain/payments/statusReports'
import { addPaymentTo, type LogFixture, type PaymentFacts } from '@paylog/projections/testing/logFixture'
import t from 'tap'
import { ada, asAda, asAdmin, queryApiHarness } from '../testing/queryApiHarness.ts'

const at = (minute: number) => `2026-03-01T11:${String(minute).padStart(2, '0')}:00.000Z`
const report = (minute: number, charge: string) => ({
  occurred_at: at(minute),
  provider_time: at(minute),
  provider_event_id: null,
  provider_intent_id: null,
  provider_payment_id: charge,
})

/** A paid payment, with a refund and a dispute of the same name. @returns its id */
function add(log: LogFixture, name: string, minute: number, facts: PaymentFacts) {
  const id = addPaymentTo(log, { ...ada, ...facts })
  const money = { amount_cents: null, currency: null }
  log.decide(id, (state) => recordStatus({ ...report(0, `ch_${name}`), ...money, status: 'succeeded' }, state))
  const refund = { refund_id: null, provider_refund_id: name, amount_cents: 100, currency: null }
  const status = name === 'b' ? ('pending' as const) : ('succeeded' as const)
  log.decide(id, (state) => recordRefund({ ...report(minute, `ch_${name}`), ...refund, status }, state))
  const dispute = { provider_dispute_id: name, provider_status: 'x', reason: 'fraudulent', evidence_due_by: at(59) }
  const outcome = name === 'b' ? ('won' as const) : ('open' as const)
  log.decide(id, (state) =>
    recordDispute({ ...report(minute, `ch_${name}`), ...dispute, ...money, amount_cents: 100, status: outcome }, state),
  )
  return id
}

t.test('the lists of refunds and disputes apply every filter, order and cursor [10.5-filters]', async (t) => {
  const { log, project, get } = await queryApiHarness(t)
  const first = add(log, 'a', 1, { concept: 'Order 1', reference_code: 'R-1' })
  add(log, 'b', 2, { currency: 'JPY' })
  add(log, 'c', 3, { provider_id: 'stripe' })
  // Changed after the others.
  const failed = { refund_id: null, provider_refund_id: 'a', amount_cents: 100, currency: null, status: 'failed' as const }
  log.decide(first, (state) => recordRefund({ ...report(9, 'ch_a'), ...failed }, state))
  const lost = { provider_dispute_id: 'a', provider_status: 'y', reason: 'fraudulent', evidence_due_by: null }
  const all = { ...report(9, 'ch_a'), ...lost, amount_cents: 100, currency: null, status: 'lost' as const }
  log.decide(first, (state) => recordDispute(all, state))
  await project()
  const expected: Readonly<Record<string, string>> = {
    '': 'cba',
    'orderDir=asc': 'abc',
    'orderBy=updated_at': 'acb',
    'provider_id=stripe': 'c',
    'currency=jpy': 'b',
    [`payment_id=${first}`]: 'a',
    [`payment_id=${first.toUpperCase()}`]: 'a',
    [`created_at_from=${at(1)}`]: 'cb',
    [`created_at_to=${at(2)}`]: 'a',
    [`created_at_from=${at(1)}&created_at_to=${at(3)}&currency=EUR`]: '',
    'limit=2': 'cb',
  }
  const statuses = { refunds: { pending: 'b', succeeded: 'c', failed: 'a' }, disputes: { open: 'c', won: 'b', lost: 'a' } }
  for (const [list, named] of [
    ['refunds', 'provider_refund_id'],
    ['disputes', 'provider_dispute_id'],
  ] as const) {
    const find = async (query: string) => (await get(`/admin/${list}?${query}`, asAdmin)).json()
    const names = async (query: string) => (await find(query)).data.map((item: object) => Reflect.get(item, named)).join('')
    for (const [query, found] of Object.entries(expected)) t.equal(await names(query), found, `${list} ${query}`)
    for (const [status, found] of Object.entries(statuses[list])) t.equal(await names(`status=${status}`), found, status)
    const { meta } = await find('limit=2&orderBy=updated_at')
    t.match(meta, { limit: 2, total: 3, total_is_exact: true, next_cursor: String })
    t.equal(await names(`limit=2&orderBy=updated_at&cursor=${meta.next_cursor}`), 'b')
    t.match(await find(`status=open&cursor=${meta.next_cursor}`), { error: { code: 'invalid_request' } })
    t.match(await find('payment_id=x'), { error: { code: 'invalid_request' } })
    t.equal((await get(`/admin/${list}`, asAda)).statusCode, 403)
  }
})

t.test('a refund and a dispute have what finance and support need', async (t) => {
  const { log, project, get } = await queryApiHarness(t)
  const id = add(log, 'a', 1, { concept: 'Order 1', reference_code: 'R-1' })
  await project()
  const common = {
    ...{ id: String, payment_id: id, provider_id: 'sandbox', amount_cents: 100, currency: 'EUR' },
    ...{ concept: 'Order 1', reference_code: 'R-1', created_at: at(1), updated_at: at(1) },
  }
  t.match((await get('/admin/refunds', asAdmin)).json().data, [
    { ...common, provider_refund_id: 'a', reason: 'other', status: 'succeeded', succeeded_at: at(1), returned_at: null },
  ])
  t.match((await get('/admin/disputes', asAdmin)).json().data, [
    { ...common, provider_dispute_id: 'a', reason: 'fraudulent', status: 'open', evidence_due_by: at(59) },
  ])
})
