// The administrators' list of payments: filters, search, orders and pages.
import { recordDispute } from '@paylog/domain/payments/disputes'
import { recordRefund } from '@paylog/domain/payments/refunds'
import { recordStatus } from '@paylog/domain/payments/statusReports'
import { projections } from '@paylog/projections/registry'
import { addPaymentTo, createLogFixture, guest, type PaymentFacts, user } from '@paylog/projections/testing/logFixture'
import { readModelDatabase, reapply } from '@paylog/projections/testing/projectionHarness'
import t, { type Test } from 'tap'
import { type ListQuery, readCounted } from '../lists/lists.ts'
import { listFor } from './queries.ts'

const id = (letter: string) => `00000000-0000-7000-8000-0000000000${letter.charCodeAt(0).toString(16).padStart(2, '0')}`
const at = (minute: number) => `2026-03-01T10:${String(minute).padStart(2, '0')}:00.000Z`

/** Payments with these facts, named a, b, c and so on. */
async function setUp(t: Test, facts: readonly PaymentFacts[]) {
  const { pool } = await readModelDatabase(t)
  const log = createLogFixture()
  facts.forEach((given, index) => {
    addPaymentTo(log, { payment_id: id(String.fromCharCode(97 + index)), occurred_at: at(index), ...given })
  })
  return {
    log,
    pool,
    async project() {
      for (const projection of projections) await reapply(pool, projection, log)
    },
    /** The names of the payments that the query finds. */
    async names(query: Partial<ListQuery>): Promise<string> {
      const { items } = await readCounted(pool, await listFor(pool, query), { orderDir: 'asc', limit: 100, ...query })
      return items.map((item) => String.fromCharCode(Number.parseInt(item.id.slice(-2), 16))).join('')
    },
  }
}

const report = (minute: number, provider_payment_id: string) => ({
  occurred_at: at(minute),
  provider_time: at(minute),
  provider_event_id: null,
  provider_intent_id: null,
  provider_payment_id,
})
const money = (minute: number, charge: string, amount_cents: number | null = null) => ({
  ...report(minute, charge),
  status: 'succeeded' as const,
  amount_cents,
  currency: null,
})

const refund = (minute: number, charge: string) => ({
  ...report(minute, charge),
  refund_id: null,
  provider_refund_id: `re_${charge}`,
  amount_cents: 100,
  currency: null,
})

const dispute = (minute: number, charge: string) => ({
  ...report(minute, charge),
  provider_dispute_id: `du_${charge}`,
  status: 'open' as const,
  provider_status: 'needs_response',
  reason: null,
  evidence_due_by: null,
  amount_cents: 100,
  currency: null,
})

t.test('a search finds whole ids, e-mails and references, and words by their beginnings in any order', async (t) => {
  const { log, project, names } = await setUp(t, [
    { ...user('ada', 'ada@example.com'), description: 'Winter shoes, size 42', reference_code: 'R-1 x' },
    { ...guest('Grace@Example.com'), description: "Shoe's O'Neill \\ : & | ! <-> ΣΟΦΌΣ" },
    {
      ...user('u3', 'u3@example.com'),
      guest_email: 'other@example.com',
      description: 'ada@example.com',
      reference_code: 'Winter',
    },
    { reference_code: 'r-1 X', description: 'Überraschung', concept: 'Cafe\u0301 & Gift' },
    { reference_code: 'Nai\u0308f', concept: 'Zu\u0308rich' },
  ])
  log.decide(id('a'), (state) => recordStatus(money(10, 'ch_1'), state))
  log.decide(id('a'), (state) => recordStatus(money(11, 'ch_other', 1000), state))
  log.decide(id('a'), (state) => recordRefund({ ...refund(12, 'ch_1'), status: 'succeeded' }, state))
  log.decide(id('a'), (state) => recordDispute(dispute(13, 'ch_1'), state))
  await project()
  const refundId = log.events.flatMap(({ type, data }) => (type === 'RefundRecorded' ? [data.refund_id] : []))[0] ?? ''
  const expected: Readonly<Record<string, string>> = {
    [id('a')]: 'a',
    [id('a').toUpperCase()]: 'a',
    [id('z')]: '',
    [`pi_${id('b')}`]: 'b',
    ch_1: 'a',
    ch_other: 'a',
    re_ch_1: 'a',
    du_ch_1: 'a',
    [refundId]: 'a',
    ch_: '',
    'ADA@example.com': 'ac',
    'ada@example': 'c',
    'grace@example.com': 'b',
    'other@example.com': 'c',
    'R-1 x': 'ad',
    'gift R-1': 'd',
    winter: 'ac',
    Winter: 'ac',
    WINT: 'ac',
    inter: '',
    'size winter': 'a',
    'shoe win': 'a',
    shoe: 'ab',
    'shoe boots': '',
    '42': 'a',
    'o neill': 'b',
    "'": '',
    '\\': '',
    ':*': '',
    '& | !': '',
    σοφός: 'b',
    über: 'd',
    'u\u0308ber': 'd',
    'caf\u00e9': 'd',
    'z\u00fcri': 'e',
    'Na\u00eff': 'e',
    '%': '',
  }
  for (const [search, found] of Object.entries(expected)) t.equal(await names({ search }), found, search)
})

t.test('a search finds amounts, and beginnings of our ids [10.5-search]', async (t) => {
  const { log, project, names } = await setUp(t, [
    { total_cents: 2200 },
    { total_cents: 2200, currency: 'USD' },
    { total_cents: 22, currency: 'JPY' },
    { total_cents: 22_000, currency: 'KWD' },
    { total_cents: 2_200_000, description: 'Order 22, paid in EUR' },
  ])
  log.decide(id('d'), (state) => recordStatus(money(10, 'ch_d'), state))
  log.decide(id('d'), (state) => recordRefund({ ...refund(12, 'ch_d'), status: 'succeeded' }, state))
  log.decide(id('d'), (state) => recordDispute(dispute(13, 'ch_d'), state))
  await project()
  const idsOf = (name: 'refund_id' | 'dispute_id') =>
    log.events.flatMap(({ data }) => (name in data ? [String(Reflect.get(data, name))] : []))
  const expected: Readonly<Record<string, string>> = {
    '22.00': 'ab',
    '22,00': 'ab',
    '22 EUR': 'ae',
    'eur 22': 'ae',
    '22.00 USD': 'b',
    '22 JPY': 'c',
    '22.000': 'd',
    '22 KWD': 'd',
    '22000 EUR': 'e',
    '23 EUR': '',
    [id('a').slice(0, 13)]: 'abcde',
    [id('a').slice(0, 12)]: '',
    [id('b').slice(0, 35)]: 'abcde',
    [id('b')]: 'b',
    [idsOf('refund_id')[0]?.slice(0, 13) ?? '']: 'd',
    [idsOf('dispute_id')[0]?.slice(0, 20) ?? '']: 'd',
  }
  for (const [search, found] of Object.entries(expected)) t.equal(await names({ search }), found, search)
})

t.test('filters by owner, reference, amount and flags find the payments of everybody that they name', async (t) => {
  const { log, project, names } = await setUp(t, [
    { ...user('ada'), total_cents: 100, provider_id: 'stripe', reference_code: 'r' },
    { ...guest('Grace@Example.com'), total_cents: 200, currency: 'USD' },
    { total_cents: 300, reference_code: 'R' },
    { ...user('ada:x'), guest_email: 'grace@example.com', total_cents: 400 },
  ])
  log.decide(id('a'), (state) => recordStatus(money(10, 'ch_a'), state))
  log.decide(id('a'), (state) => recordRefund({ ...refund(11, 'ch_a'), status: 'succeeded' }, state))
  log.decide(id('b'), (state) => recordStatus(money(10, 'ch_b'), state))
  log.decide(id('b'), (state) => recordRefund({ ...refund(11, 'ch_b'), status: 'pending' }, state))
  log.decide(id('b'), (state) => recordDispute(dispute(12, 'ch_b'), state))
  log.decide(id('c'), (state) => recordStatus(money(10, 'ch_c', 1), state))
  await project()
  const expected: readonly (readonly [Partial<ListQuery>, string])[] = [
    [{ user_id: 'ada' }, 'a'],
    [{ user_id: 'ada:x' }, 'd'],
    [{ guest_email: 'GRACE@example.com' }, 'bd'],
    [{ reference_code: 'r' }, 'a'],
    [{ amount_from: 200, amount_to: 300 }, 'bc'],
    [{ refunded: 'true' }, 'a'],
    [{ refunded: 'false' }, 'bcd'],
    [{ disputed: 'true' }, 'b'],
    [{ disputed: 'false' }, 'acd'],
    [{ attention: 'true' }, 'c'],
    [{ attention: 'false' }, 'abd'],
    [{ status: 'succeeded', refunded: 'false', search: 'grace@example.com' }, 'b'],
  ]
  for (const [query, found] of expected) t.equal(await names(query), found, JSON.stringify(query))
})

t.test('more payments than are counted have the limit as total, and are found in order [10.5-total]', async (t) => {
  const { pool, project } = await setUp(t, [{ description: 'Common words' }])
  await project()
  const { rows } = await pool.query<{ names: string }>(
    `select string_agg(quote_ident(attname), ', ' order by attnum) as names from pg_attribute
     where attrelid = 'read_models.payments_v1'::regclass and attnum > 1 and not attisdropped`,
  )
  await pool.query(
    `insert into read_models.payments_v1 (id, ${rows[0]?.names})
     select gen_random_uuid(), ${rows[0]?.names} from read_models.payments_v1, generate_series(1, 10000)`,
  )
  for (const query of [{}, { search: 'common' }, { currency: 'EUR' }]) {
    const { items, total, isExact } = await readCounted(pool, await listFor(pool, query), { ...query, limit: 3 })
    t.same([items.length, total, isExact], [3, 10_000, false])
  }
})
