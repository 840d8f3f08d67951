import { ListedPayment } from '@paylog/domain/payments/resource'
import { recordStatus } from '@paylog/domain/payments/statusReports'
import { addPaymentTo, guest } from '@paylog/projections/testing/logFixture'
import t from 'tap'
import { ada, asAdmin, grace, queryApiHarness } from '../testing/queryApiHarness.ts'

const succeeded = {
  occurred_at: '2026-03-02T00:00:00.000Z',
  provider_time: '2026-03-02T00:00:00.000Z',
  status: 'succeeded' as const,
  provider_event_id: null,
  provider_intent_id: null,
  provider_payment_id: 'ch_1',
  amount_cents: 1,
  currency: null,
}

t.test('GET /admin/payments lists everybody’s payments with the fields of the list and three more', async (t) => {
  const { log, project, get } = await queryApiHarness(t)
  const own = addPaymentTo(log, ada)
  const anonymous = addPaymentTo(log, { occurred_at: '2026-03-01T11:00:00.000Z' })
  log.decide(own, (state) => recordStatus(succeeded, state))
  await project()
  const { success, data, meta } = (await get('/admin/payments', asAdmin)).json()
  t.equal(success, true)
  t.same(meta, { limit: 20, next_cursor: null, total: 2, total_is_exact: true })
  t.match(data, [
    { id: anonymous, user_id: null, dispute_status: null, attention: false },
    { id: own, user_id: ada.payer.id, attention: true, amount_received_cents: 1, amount_refunded_cents: 0 },
  ])
  const { payment_method: _, ...listed } = ListedPayment.properties
  t.same(Object.keys(data[0]).toSorted(), [...Object.keys(listed), 'user_id', 'dispute_status', 'attention'].toSorted())
})

t.test('GET /admin/payments applies every parameter', async (t) => {
  const { log, project, get } = await queryApiHarness(t)
  const at = (hour: number) => ({ occurred_at: `2026-03-01T1${hour}:00:00.000Z` })
  const facts = [
    { ...ada, ...at(0), description: 'Winter shoes', total_cents: 3, reference_code: 'R 1' },
    { ...grace, ...at(1), total_cents: 1, currency: 'USD', provider_id: 'stripe' },
    { ...guest('Guest@example.com'), ...at(2), total_cents: 2 },
  ]
  const names = new Map(facts.map((given, index) => [addPaymentTo(log, given), 'abc'[index]]))
  const [paid = ''] = names.keys()
  log.decide(paid, (state) => recordStatus({ ...succeeded, amount_cents: null }, state))
  await project()
  const expected: Readonly<Record<string, string>> = {
    '': 'cba',
    'orderDir=asc': 'abc',
    'orderBy=amount_cents': 'acb',
    'orderBy=updated_at': 'acb',
    'status=succeeded': 'a',
    'provider_id=stripe': 'b',
    [`user_id=${ada.payer.id}`]: 'a',
    'guest_email=GUEST@example.com': 'c',
    'reference_code=R%201': 'a',
    'search=shoe%20winter': 'a',
    'search=%20R%201%20': 'a',
    [`search=pi_${paid}`]: 'a',
    'search=grace@example.com': 'b',
    'search=': 'cba',
    'search=nothing': '',
    'created_at_from=2026-03-01T10:00:00Z&created_at_to=2026-03-01T12:00:00Z': 'b',
    'reported_in=2026-03-01T00:00:00Z/2026-04-01T00:00:00Z': 'a',
    'amount_from=2&amount_to=2': 'c',
    'currency=usd': 'b',
    'refunded=true': '',
    'refunded=false': 'cba',
    'disputed=true': '',
    'disputed=false': 'cba',
    'attention=true': '',
    'attention=false': 'cba',
    'limit=2': 'cb',
    'unknown=1': 'cba',
  }
  for (const [query, found] of Object.entries(expected)) {
    const response = await get(`/admin/payments?${query}`, asAdmin)
    t.equal(response.statusCode, 200, query)
    const ids: { id: string }[] = response.json().data
    t.equal(ids.map(({ id }) => names.get(id)).join(''), found, query)
  }
})

t.test('GET /admin/payments: a cursor continues the same list, and belongs to no other', async (t) => {
  const { log, project, get } = await queryApiHarness(t)
  const ids = [1, 2, 3, 4, 5].map((minute) =>
    addPaymentTo(log, { ...ada, occurred_at: `2026-03-01T10:0${minute}:00.000Z` }),
  )
  await project()
  const { next_cursor } = (await get('/admin/payments?limit=2', asAdmin)).json().meta
  const others = ['orderDir=asc', 'orderBy=updated_at', 'status=pending', 'refunded=false', 'search=x', 'amount_from=1']
  for (const other of [...others, 'created_at_from=2026-03-01T10:00:00Z', 'currency=EUR'])
    t.equal((await get(`/admin/payments?${other}&cursor=${next_cursor}`, asAdmin)).statusCode, 400, other)
  const rest = (await get(`/admin/payments?limit=3&cursor=${next_cursor}`, asAdmin)).json()
  t.match(rest.data, [{ id: ids[2] }, { id: ids[1] }, { id: ids[0] }])
  t.match(rest.meta, { total: 5, next_cursor: null })
  t.equal((await get(`/admin/disputes?cursor=${next_cursor}`, asAdmin)).statusCode, 400)
})
