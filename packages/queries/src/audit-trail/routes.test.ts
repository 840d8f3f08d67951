import { addActionTo, addPaymentTo, endActionIn } from '@paylog/projections/testing/logFixture'
import t from 'tap'
import { asAdmin, queryApiHarness } from '../testing/queryApiHarness.ts'

const { get, log, project } = await queryApiHarness(t)
const at = (minute: number) => `2026-03-01T12:0${minute}:00.000Z`
const payment = { kind: 'payment', id: addPaymentTo(log, { currency: 'JPY' }) }
const ann = 'operator:ann'
const bea = 'session:bea'

const who = { actor: bea, actor_email: 'bea@example.com' }
const refund = { action: 'refund_payment', target: payment, ...who, reason: 'Ticket 4711' } as const
const ids = [
  addActionTo(log, { ...refund, details: { amount_cents: 500, note: null }, occurred_at: at(0) }),
  addActionTo(log, { action: 'export_log', actor: ann, occurred_at: at(1) }),
  addActionTo(log, { action: 'capture_payment', target: payment, actor: ann, occurred_at: at(2) }),
]
for (const [place, outcome] of [
  [0, 'done'],
  [2, 'refused'],
] as const)
  endActionIn(log, ids[place] ?? '', outcome)
await project()

const list = async (query = '') => (await get(`/admin/audit-trail${query}`, asAdmin)).json()
const found = async (query: string) => (await list(query)).data.map(({ id }: { id: string }) => ids.indexOf(id))

t.test('the audit trail is listed newest first, with target, actor, reason and details', async (t) => {
  const { data, meta } = await list()
  t.same(meta, { limit: 20, next_cursor: null, total: 3, total_is_exact: true })
  t.same(
    data.map(({ id }: { id: string }) => ids.indexOf(id)),
    [2, 1, 0],
  )
  const details = { amount_cents: 500, note: null }
  t.same(data[2], {
    id: ids[0],
    ...refund,
    details,
    amount_cents: 500,
    currency: 'JPY',
    outcome: 'done',
    created_at: at(0),
  })
  t.match(data[1], {
    target: null,
    actor_email: null,
    reason: null,
    details: {},
    amount_cents: null,
    currency: null,
    outcome: 'unknown',
  })
  t.match(data[0], { currency: 'JPY', outcome: 'refused' })
})

t.test('each filter of the audit trail reaches the query', async (t) => {
  const expected = {
    '?action=export_log': [1],
    [`?actor=${ann}`]: [2, 1],
    '?actor_email=Bea@example.com': [0],
    [`?target=${payment.id}`]: [2, 0],
    [`?created_at_from=${at(0)}`]: [2, 1],
    [`?created_at_to=${at(1)}`]: [0],
    [`?actor=${ann}&target=${payment.id}&created_at_from=${at(1)}&created_at_to=${at(3)}`]: [2],
    '?action=nothing': [],
  }
  for (const [query, places] of Object.entries(expected)) t.same(await found(query), places, query)
})

t.test('the pages of the audit trail have each entry once, and a cursor is tied to its filters', async (t) => {
  const first = await list(`?actor=${ann}&limit=1`)
  const cursor = first.meta.next_cursor
  t.same(await found(`?actor=${ann}&limit=1&cursor=${cursor}`), [1])
  t.equal((await list(`?actor=${ann}&limit=1&cursor=${cursor}`)).meta.next_cursor, null)
  for (const other of [`?cursor=${cursor}`, `?actor=${bea}&cursor=${cursor}`, '?limit=101', '?created_at_to=x'])
    t.match(await list(other), { error: { code: 'invalid_request' } }, other)
})

t.test('an entry whose target is no payment that is known has no currency', async (t) => {
  const id = addActionTo(log, { action: 'show_payment', target: { kind: 'payment', id: '(left out)' } })
  await project()
  const entry = (await list()).data.find((entry: { id: string }) => entry.id === id)
  t.match(entry, { target: { id: '(left out)' }, currency: null })
})

t.test('an erased administrator has no e-mail in the audit trail, but stays its actor', async (t) => {
  const id = addActionTo(log, { actor: 'session:eve', actor_email: 'eve@example.com', occurred_at: at(9) })
  await project()
  t.match((await list()).data[0], { id, actor: 'session:eve', actor_email: 'eve@example.com' })
  log.forget('user:eve')
  await project()
  t.match((await list()).data[0], { id, actor: 'session:eve', actor_email: null })
})
