import t from 'tap'
import { assertInvalid, tooLong } from '../testing/commandApiHarness.ts'
import { mug, plan, productsHarness } from '../testing/productsHarness.ts'

const { post, put, productOf, recordsNothing } = await productsHarness(t)

const longText = 'x'.repeat(2001)

type Kind = 'name' | 'text' | 'longText' | 'type' | 'flag' | 'cents' | 'currency' | 'interval' | 'days'
const kinds: Readonly<Record<string, Kind>> = {
  name: 'name',
  description: 'longText',
  product_type: 'type',
  is_recurring: 'flag',
  subtotal_cents: 'cents',
  tax_cents: 'cents',
  discount_cents: 'cents',
  total_cents: 'cents',
  currency: 'currency',
  billing_interval: 'interval',
  trial_days: 'days',
  category_id: 'text',
  is_active: 'flag',
}

const notText: readonly unknown[] = [0, 1, 1.5, -1, true, false, [], ['x'], {}, { toString: 'x' }]
const notNumber: readonly unknown[] = [true, false, '', '1', '1490', [], [1], {}, 0.5, -1, 1e21, -1e21]
const bad: Readonly<Record<Kind, readonly unknown[]>> = {
  name: [...notText, null, '', ' ', '\t\n\u00a0', tooLong],
  text: [...notText, '', tooLong],
  longText: [...notText, longText],
  type: [...notText, null, '', 'Physical', 'digital ', 'goods', tooLong],
  flag: [null, 0, 1, '', 'true', 'false', [], {}],
  cents: [...notNumber, 1_000_000_000_000, 9_007_199_254_740_991, 14.9],
  currency: [...notText, null, '', 'EU', 'EURO', ' EUR', 'EUR\n', '978', '\u20ac', 'XAU', 'abc', '\u0131dr', tooLong],
  interval: [...notText, '', 'monthly', 'Month', 'hour', 'quarter', 'day ', tooLong],
  days: [...notNumber, 731, 1.5],
}

/** Every invalid value of every field, each in an otherwise valid body. */
const badBodies = Object.entries(kinds).flatMap(([field, kind]) =>
  bad[kind].map((value) => ({ field, value, name: `${field}: ${JSON.stringify(value).slice(0, 30)}` })),
)

t.test('an invalid field of a product is 400 with its name, and nothing is recorded', async (t) => {
  t.equal(Object.keys(kinds).length, 13, 'every field that a client may send')
  const id = await productOf(plan)
  const unknown = '018f0000-0000-7000-8000-000000000001'
  await recordsNothing(t, async () => {
    for (const { field, value, name } of badBodies) {
      assertInvalid(t, await post({ ...plan, [field]: value }), name, [field])
      assertInvalid(t, await put(id, { description: 'y', [field]: value }), name, [field])
      assertInvalid(t, await put(unknown, { [field]: value }), `${name}, unknown product`, [field])
    }
  })
})

t.test('the longest and largest allowed product values are accepted [10.1-longest]', async (t) => {
  const id = await productOf(plan)
  const limits = {
    name: tooLong.slice(1),
    description: longText.slice(1),
    category_id: tooLong.slice(1),
    subtotal_cents: 999_999_999_999,
    tax_cents: 999_999_999_999,
    discount_cents: 999_999_999_999,
    total_cents: 999_999_999_999,
    trial_days: 730,
  }
  t.match(await post({ ...plan, ...limits }), { status: 201, data: limits })
  t.match(await put(id, limits), { status: 200, data: limits })
  for (const billing_interval of ['day', 'week', 'month', 'year'])
    t.match(await put(id, { billing_interval }), { status: 200, data: { billing_interval } })
  for (const product_type of ['physical', 'digital', 'service', 'subscription'])
    t.match(await put(id, { product_type }), { status: 200, data: { product_type } })
})

// The rules between fields: domain/products/content.test.ts.
t.test(
  'a product that breaks rules is 400 with every field, when created and when updated [10.3-product-required]',
  async (t) => {
    const [once, recurring] = [await productOf(mug), await productOf({ ...plan, trial_days: 7 })]
    await recordsNothing(t, async () => {
      for (const [body, fields] of [
        [{}, ['name', 'product_type', 'currency']],
        [{ ...mug, name: ' ', total_cents: null, currency: 'abc' }, ['name', 'currency', 'total_cents']],
        [{ ...plan, is_recurring: false, trial_days: 7 }, ['billing_interval', 'trial_days']],
      ] as const)
        assertInvalid(t, await post(body), JSON.stringify(body), fields)
      for (const [id, body, fields] of [
        [once, { is_recurring: true }, ['billing_interval']],
        [once, { subtotal_cents: null, total_cents: null }, ['total_cents']],
        [recurring, { is_recurring: false }, ['billing_interval', 'trial_days']],
      ] as const)
        assertInvalid(t, await put(id, body), JSON.stringify(body), fields)
    })
    const settled = { is_recurring: false, billing_interval: null, trial_days: null }
    t.match(await put(recurring, settled), { status: 200, data: settled })
  },
)

t.test('inconsistent product amounts are 422 with the amounts', async (t) => {
  const id = await productOf({ ...mug, tax_cents: 190, discount_cents: 90 })
  await recordsNothing(t, async () => {
    const responses = [post({ ...mug, total_cents: 10, tax_cents: 11 }), put(id, { name: 'x', total_cents: 99 })]
    for (const { status, error } of await Promise.all(responses)) {
      t.match({ status, error }, { status: 422, error: { code: 'amount_inconsistent' } })
      t.same(Object.keys(Object(error?.details)), ['subtotal_cents', 'tax_cents', 'discount_cents', 'total_cents'])
    }
  })
})
