// Products over HTTP. The rules of their content: domain/products/content.test.ts; keys, ETags, ids and cards:
// creations.full.test.ts and changes.full.test.ts.
import { matchList } from '@paylog/testing/assertions'
import t from 'tap'
import { admin, adminId, assertInvalid, tooLong } from '../testing/commandApiHarness.ts'
import { mug, type ProductResponse, plan, productsHarness } from '../testing/productsHarness.ts'

const { post, put, productOf, eventsOf, recordsNothing } = await productsHarness(t)

const everything = {
  name: 'S\u00e3o Paulo plan',
  description: 'Everything,\nevery year',
  product_type: 'subscription',
  is_recurring: true,
  subtotal_cents: 1000,
  tax_cents: 190,
  discount_cents: 90,
  total_cents: 1100,
  currency: 'bRl',
  billing_interval: 'year',
  trial_days: 30,
  category_id: 'plans',
  is_active: false,
}

t.test('an administrator creates a product with every field [10.3-product-create]', async (t) => {
  const { status, data, headers } = await post(everything)
  t.equal(status, 201)
  const { id, created_at, updated_at, ...content } = data
  t.same(content, { ...everything, currency: 'BRL' })
  t.match(id, /^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-/)
  t.match(created_at, /^\d{4}-\d\d-\d\dT[\d:.]+Z$/)
  t.equal(updated_at, created_at)
  const [added, ...more] = await eventsOf(id)
  t.same(more, [])
  t.same(added?.data, { product_id: id, occurred_at: created_at, ...content, request_fingerprint: null })
  t.match(added, {
    type: 'ProductAdded',
    metadata: { actor: `session:${adminId}`, requestId: headers['x-request-id'] },
  })
  t.equal(headers.etag, '"0"')
  t.equal(headers['x-event-position'], String(added?.position.commit))
  t.equal(headers['idempotent-replayed'], undefined)
  t.match(await post(mug), { data: { is_active: true } }, 'the default')
})

t.test('a negative zero in a product body is stored as zero', async (t) => {
  const zeros = '"subtotal_cents":-0,"tax_cents":-0,"discount_cents":-0,"trial_days":-0'
  const { status, text, data } = await post(`${JSON.stringify({ ...mug, total_cents: 0 }).slice(0, -1)},${zeros}}`)
  t.equal(status, 201)
  t.notMatch(text, /:-0/)
  await recordsNothing(t, () => put(data.id, { total_cents: 0, tax_cents: 0, trial_days: 0 }))
})

t.test('a product update ignores what a client sends back, and creating a product refuses it', async (t) => {
  const sentBack = { id: '018f0000-0000-7000-8000-000000000001', created_at: 'z', updated_at: 1 }
  t.equal((await recordsNothing(t, () => post({ ...mug, ...sentBack }))).status, 400)
  const { data } = await post(mug)
  t.equal((await recordsNothing(t, () => put(data.id, { ...data, is_activ: false }))).status, 400)
  const changed = await put(data.id, { ...data, ...sentBack, name: 'Other' })
  t.match(changed, { status: 200, data: { ...data, name: 'Other', updated_at: changed.data.updated_at } })
  const facts = { product_id: data.id, occurred_at: changed.data.updated_at }
  t.same((await eventsOf(data.id)).at(-1)?.data, { ...facts, changes: { name: 'Other' } })
  assertInvalid(t, await recordsNothing(t, () => put(data.id, sentBack)), 'no field that can change', [''])
})

t.test(
  'a product update keeps omitted fields, clears null ones, and records only differences [10.3-product-update]',
  async (t) => {
    const { data: before } = await post({ ...everything, is_active: true })
    const changed = await put(before.id, { description: null, name: 'Other', currency: 'brl', tax_cents: 200 })
    t.equal(changed.status, 200)
    const { updated_at } = changed.data
    t.same(changed.data, { ...before, description: null, name: 'Other', tax_cents: 200, total_cents: 1110, updated_at })
    t.equal(changed.headers.etag, '"1"')
    const [, event, ...more] = await eventsOf(before.id)
    t.same(more, [])
    t.match(event, { type: 'ProductChanged', metadata: { actor: `session:${adminId}` } })
    const changes = { description: null, name: 'Other', tax_cents: 200, total_cents: 1110 }
    t.same(event?.data, { product_id: before.id, occurred_at: updated_at, changes })
    t.equal(changed.headers['x-event-position'], String(event?.position.commit))
  },
)

t.test(
  'a product update of several events has the ETag and position of the last one, also when repeated',
  async (t) => {
    const { data } = await post({ ...mug, is_active: false })
    const back = await put(data.id, { is_active: true, name: 'Other' })
    const events = await eventsOf(data.id)
    matchList(t, events, [{ type: 'ProductAdded' }, { type: 'ProductChanged' }, { type: 'ProductReactivated' }])
    const headers = { etag: '"2"', 'x-event-position': String(events.at(-1)?.position.commit) }
    t.match(back, { status: 200, data: { is_active: true, name: 'Other' }, headers })
    t.match(await recordsNothing(t, () => put(data.id, back.data)), { status: 200, data: back.data, headers })
  },
)

t.test('of two conflicting concurrent product changes only one is recorded', async (t) => {
  const pairs: [object, object, object, number][] = [
    [plan, { is_recurring: false, billing_interval: null }, { trial_days: 7 }, 400],
    [{ ...mug, tax_cents: 100 }, { discount_cents: 1400 }, { tax_cents: 0, subtotal_cents: 1000 }, 422],
  ]
  for (const [body, one, other, rejected] of pairs)
    for (const isFirst of [true, false, true, false]) {
      const { id } = (await post(body)).data
      const responses = await Promise.all(isFirst ? [put(id, one), put(id, other)] : [put(id, other), put(id, one)])
      t.same(responses.map(({ status }) => status).toSorted(), [200, rejected])
      t.equal((await eventsOf(id)).length, 2)
    }
})

const longText = 'x'.repeat(2001)
const notText: readonly unknown[] = [0, 1, 1.5, -1, true, false, [], ['x'], {}, { toString: 'x' }]
const notNumber: readonly unknown[] = [true, false, '', '1', '1490', [], [1], {}, 0.5, -1, 1e21, -1e21]
const notFlag: readonly unknown[] = [null, 0, 1, '', 'true', 'false', [], {}]
const notCents = [...notNumber, 1_000_000_000_000, 9_007_199_254_740_991, 14.9]
/** Invalid values of every field that a client may send. */
const bad: Readonly<Record<string, readonly unknown[]>> = {
  name: [...notText, null, '', ' ', '\t\n\u00a0', tooLong],
  description: [...notText, longText],
  product_type: [...notText, null, '', 'Physical', 'digital ', 'goods', tooLong],
  is_recurring: notFlag,
  subtotal_cents: notCents,
  tax_cents: notCents,
  discount_cents: notCents,
  total_cents: notCents,
  currency: [...notText, null, '', 'EU', 'EURO', ' EUR', 'EUR\n', '978', '\u20ac', 'XAU', 'abc', '\u0131dr', tooLong],
  billing_interval: [...notText, '', 'monthly', 'Month', 'hour', 'quarter', 'day ', tooLong],
  trial_days: [...notNumber, 731, 1.5],
  category_id: [...notText, '', tooLong],
  is_active: notFlag,
}

t.test('an invalid field of a product is 400 with its name, and nothing is recorded', async (t) => {
  t.same(Object.keys(bad).toSorted(), Object.keys(everything).toSorted())
  const { id } = (await post(plan)).data
  await recordsNothing(t, async () => {
    for (const [field, values] of Object.entries(bad))
      for (const value of values) {
        const name = `${field}: ${JSON.stringify(value).slice(0, 30)}`
        assertInvalid(t, await post({ ...plan, [field]: value }), name, [field])
        assertInvalid(t, await put(id, { description: 'y', [field]: value }), name, [field])
      }
  })
})

t.test('the longest and largest allowed product values are accepted [10.1-longest]', async (t) => {
  const { id } = (await post(plan)).data
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

t.test(
  'a product that breaks rules is 400 with every field, and 422 with its amounts [10.3-product-required]',
  async (t) => {
    const once = await productOf({ tax_cents: 190, discount_cents: 90 })
    const recurring = await productOf({ ...plan, trial_days: 7 })
    const oneTime = { is_recurring: false }
    await recordsNothing(t, async () => {
      assertInvalid(t, await post({}), 'no field', ['name', 'product_type', 'currency'])
      assertInvalid(t, await post({ ...plan, ...oneTime, trial_days: 7 }), 'new', ['billing_interval', 'trial_days'])
      assertInvalid(t, await put(recurring, oneTime), 'changed', ['billing_interval', 'trial_days'])
      for (const { status, error } of [
        await post({ ...mug, total_cents: 10, tax_cents: 11 }),
        await put(once, { name: 'x', total_cents: 99 }),
      ]) {
        t.match([status, error?.code], [422, 'amount_inconsistent'])
        t.same(Object.keys(Object(error?.details)), ['subtotal_cents', 'tax_cents', 'discount_cents', 'total_cents'])
      }
    })
  },
)

t.test('a product request with several errors reports the first one in contract order [10.1-order]', async (t) => {
  const card = '4242 4242 4242 4242'
  const id = await productOf()
  const stale = { ...admin, 'if-match': '"9"' }
  const cases: [string, () => Promise<ProductResponse>, number, string][] = [
    ['inconsistent, unknown product', () => put('x', { is_recurring: false, trial_days: 1 }), 400, 'invalid_request'],
    ['no price, stale', () => put(id, { total_cents: null, subtotal_cents: null }, stale), 400, 'invalid_request'],
    ['blank name, wrong total', () => post({ ...mug, name: ' ', subtotal_cents: 1 }), 400, 'invalid_request'],
    ['unknown product, recurring', () => put('x', { is_recurring: true }), 404, 'not_found'],
    ['unknown product, wrong total', () => put('x', { subtotal_cents: 1, total_cents: 2 }), 404, 'not_found'],
    ['stale, recurring', () => put(id, { is_recurring: true }, stale), 412, 'precondition_failed'],
    ['stale, wrong total', () => put(id, { discount_cents: 9999 }, stale), 412, 'precondition_failed'],
    ['stale, nothing changes', () => put(id, mug, stale), 412, 'precondition_failed'],
    ['recurring, card', () => put(id, { is_recurring: true, name: card }), 400, 'invalid_request'],
    ['recurring, wrong total', () => put(id, { is_recurring: true, discount_cents: 9999 }), 400, 'invalid_request'],
    ['wrong total', () => put(id, { discount_cents: 9999 }), 422, 'amount_inconsistent'],
    ['card, nothing changes', () => put(id, { ...mug, unknown: card }), 422, 'card_number_rejected'],
  ]
  for (const [name, request, status, code] of cases) {
    const response = await recordsNothing(t, request, `${name}: nothing is recorded`)
    t.equal(response.status, status, name)
    t.match(JSON.parse(response.text), { success: false, error: { code, message: /./, request_id: /./ } }, name)
  }
})
