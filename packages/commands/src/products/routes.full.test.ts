import { productFold } from '@paylog/domain/products/product'
import { productStream } from '@paylog/event-store/streamName'
import { matchList } from '@paylog/testing/assertions'
import t from 'tap'
import { adminId } from '../testing/commandApiHarness.ts'
import { mug, plan, productsHarness } from '../testing/productsHarness.ts'

const { post, put, productOf, eventsOf, recordsNothing, store } = await productsHarness(t)

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
const nothing = { description: null, billing_interval: null, trial_days: null, category_id: null }

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
})

t.test('omitted and null product fields are null, and missing amounts are computed', async (t) => {
  const none = { subtotal_cents: null, tax_cents: null, discount_cents: null }
  const amounts = { subtotal_cents: 1490, tax_cents: 0, discount_cents: 0 }
  for (const more of [{}, { ...nothing, ...none }]) {
    const { status, data } = await post({ ...mug, ...more })
    t.equal(status, 201)
    const { id, created_at, updated_at, ...content } = data
    t.same(content, { ...mug, ...nothing, ...amounts, is_recurring: false, is_active: true })
  }
  const { total_cents: _, ...unpriced } = mug
  for (const total of [{}, { total_cents: null }]) {
    const { data } = await post({ ...unpriced, ...total, subtotal_cents: 1000, tax_cents: 190, discount_cents: 90 })
    t.match(data, { subtotal_cents: 1000, tax_cents: 190, discount_cents: 90, total_cents: 1100 })
  }
  t.match(await post({ ...mug, total_cents: 0 }), { status: 201, data: { subtotal_cents: 0, total_cents: 0 } })
  t.match(await post({ ...plan, trial_days: 0 }), { status: 201, data: { trial_days: 0, billing_interval: 'month' } })
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

t.test('a product can be deactivated and reactivated, alone or together with other changes', async (t) => {
  const id = await productOf()
  t.match(await put(id, { is_active: false }), { status: 200, data: { is_active: false }, headers: { etag: '"1"' } })
  const back = await put(id, { is_active: true, name: 'Other' })
  t.match(back, { status: 200, data: { is_active: true, name: 'Other' }, headers: { etag: '"3"' } })
  const events = await eventsOf(id)
  matchList(
    t,
    events,
    ['ProductAdded', 'ProductDeactivated', 'ProductChanged', 'ProductReactivated'].map((type) => ({ type })),
  )
  t.equal(back.headers['x-event-position'], String(events.at(-1)?.position.commit))
})

t.test('a product update without a difference records nothing and returns the product', async (t) => {
  const { data, headers } = await post(everything)
  for (const body of [data, { currency: 'brl', total_cents: null }]) {
    const same = await recordsNothing(t, () => put(data.id, body))
    t.equal(same.status, 200)
    t.same(same.data, data)
    t.equal(same.headers.etag, '"0"')
    t.equal(same.headers['x-event-position'], headers['x-event-position'])
  }
})

t.test('a sync changes the ETag of a product but not updated_at', async (t) => {
  const { data } = await post(mug)
  const sync = { product_id: data.id, provider_id: 'sandbox', occurred_at: new Date().toISOString(), sync: 1 }
  const { position } = await store.handle({
    stream: productStream(data.id),
    fold: productFold,
    decide: () => [{ type: 'ProductSyncFailed', data: { ...sync, code: 'provider_rejected', message: 'x' } }],
    metadata: { correlationId: 'test', causationId: 'test', actor: 'operator' },
  })
  const same = await recordsNothing(t, () => put(data.id, mug))
  t.same(same.data, data)
  t.match(same.headers, { etag: '"1"', 'x-event-position': String(position?.commit) })
})

t.test('a product update without a known field is rejected', async (t) => {
  const id = await productOf()
  for (const body of [{}, { id }, { created_at: 'x', updated_at: 1 }]) {
    const { status, error } = await recordsNothing(t, () => put(id, body))
    t.match(
      { status, error },
      { status: 400, error: { code: 'invalid_request', details: { fields: [{ field: '' }] } } },
    )
  }
})

t.test('of two conflicting concurrent product changes only one is recorded', async (t) => {
  const pairs: [object, object, object, number][] = [
    [plan, { is_recurring: false, billing_interval: null }, { trial_days: 7 }, 400],
    [{ ...mug, tax_cents: 100 }, { discount_cents: 1400 }, { tax_cents: 0, subtotal_cents: 1000 }, 422],
  ]
  for (const [body, one, other, rejected] of pairs)
    for (let round = 0; round < 10; round++) {
      const id = await productOf(body)
      const responses = await Promise.all(round % 2 ? [put(id, one), put(id, other)] : [put(id, other), put(id, one)])
      t.same(responses.map(({ status }) => status).toSorted(), [200, rejected])
      t.equal((await eventsOf(id)).length, 2)
    }
})
