import { given as givenEvents } from '@paylog/testing/assertions'
import t, { type Test } from 'tap'
import { newContent, type ProductChanges } from './content.ts'
import type { ProductContent, ProductEvent } from './events.ts'
import { addProduct, changeProduct, existingProduct, productFold, productResource, recordContent } from './product.ts'

const product_id = '018f0000-0000-7000-8000-000000000001'
const at = (seconds: number) => new Date(Date.UTC(2026, 0, 1) + seconds * 1000).toISOString()

const content = newContent({ name: 'Sample mug', product_type: 'physical', currency: 'EUR', total_cents: 1490 })
const adding = { product_id, occurred_at: at(0), ...content, is_active: true, request_fingerprint: null }
const facts = { product_id, occurred_at: at(1) }
const added: ProductEvent = { type: 'ProductAdded', data: adding }
const deactivated: ProductEvent = { type: 'ProductDeactivated', data: facts }
const reactivated: ProductEvent = { type: 'ProductReactivated', data: facts }
const changed = (changes: Partial<ProductContent>): ProductEvent => ({
  type: 'ProductChanged',
  data: { ...facts, changes },
})
const syncFailed: ProductEvent = {
  type: 'ProductSyncFailed',
  data: { product_id, occurred_at: at(9), provider_id: 'stripe', sync: 1, code: 'provider_rejected', message: 'x' },
}

const given = (t: Test, ...history: ProductEvent[]) => givenEvents(t, productFold, history)
const change = (changes: ProductChanges) => changeProduct.bind(null, { occurred_at: at(1), changes })

/** The decision is exactly these events, with nothing more in them. */
function decides(t: Test, history: ProductEvent[], changes: ProductChanges, expected: ProductEvent[]) {
  const state = history.reduce(productFold.evolve, productFold.initialState)
  t.strictSame(change(changes)(state), expected, JSON.stringify(changes))
}

t.test('a product that is added is kept as it was said, and answered like that', async (t) => {
  const product = existingProduct(given(t).when(addProduct.bind(null, adding)).then([added]))
  const answered = { id: product_id, ...content, is_active: true, created_at: at(0), updated_at: at(0) }
  t.strictSame(productResource(product), answered)
  const resting = given(t)
    .when(addProduct.bind(null, { ...adding, is_active: false }))
    .then([{ type: 'ProductAdded', data: { is_active: false } }])
  t.equal(existingProduct(resting).is_active, false)
})

t.test('a product is added once', async (t) => {
  const again = addProduct.bind(null, { ...adding, name: 'Other' })
  for (const history of [[added], [added, deactivated]])
    t.match(
      given(t, ...history)
        .when(again)
        .then([]),
      { name: 'Sample mug' },
    )
})

t.test('a change records what is another value, and nothing else', async (t) => {
  decides(t, [added], { name: 'Other', currency: 'eur', is_recurring: false }, [changed({ name: 'Other' })])
  decides(t, [added], { total_cents: 1500 }, [changed({ subtotal_cents: 1500, total_cents: 1500 })])
  decides(t, [added], { tax_cents: 10 }, [changed({ tax_cents: 10, total_cents: 1500 })])
  decides(t, [added, changed({ description: 'x' })], { description: null }, [changed({ description: null })])
  const recurring = { is_recurring: true, billing_interval: 'month', trial_days: 7 } as const
  decides(t, [added], recurring, [changed(recurring)])
})

t.test('what is so already is not recorded again', async (t) => {
  const { product_id: _, occurred_at: __, request_fingerprint: ___, ...everything } = adding
  for (const same of [
    {},
    everything,
    { is_active: true },
    { currency: 'eur' },
    { total_cents: 1490 },
    { name: content.name },
  ])
    decides(t, [added], same, [])
  decides(t, [added, deactivated], { is_active: false }, [])
  decides(t, [added, deactivated, reactivated], { is_active: true }, [])
  decides(t, [added, changed({ name: 'Other' })], { name: 'Other' }, [])
})

t.test('whether it is active is recorded by itself', async (t) => {
  decides(t, [added], { is_active: false }, [deactivated])
  decides(t, [added, deactivated], { is_active: true }, [reactivated])
  decides(t, [added, deactivated], { name: 'Other' }, [changed({ name: 'Other' })])
  decides(t, [added], { is_active: false, name: 'Other' }, [changed({ name: 'Other' }), deactivated])
})

t.test('a change is judged with what is there, and must leave a product that could be added', async (t) => {
  given(t)
    .when(change({ name: 'Other' }))
    .thenThrows('not_found')
  given(t, added)
    .when(change({ is_recurring: true }))
    .thenThrows('invalid_request')
  given(t, added)
    .when(change({ name: ' ' }))
    .thenThrows('invalid_request')
  given(t, added)
    .when(change({ discount_cents: 1491 }))
    .thenThrows('amount_inconsistent')
  given(t, added, changed({ is_recurring: true, billing_interval: 'day' }))
    .when(change({ trial_days: 1 }))
    .then([changed({ trial_days: 1 })])
})

t.test('a product is as the last change left it, and was updated then', async (t) => {
  const state = given(t, added, changed({ name: 'Other' }))
    .when(change({ description: 'x', is_active: false }))
    .then([changed({ description: 'x' }), deactivated])
  const { created_at, updated_at, ...rest } = productResource(existingProduct(state))
  t.strictSame(rest, { id: product_id, ...content, name: 'Other', description: 'x', is_active: false })
  t.same([created_at, updated_at], [at(0), at(1)])
})

t.test('each kind of change by itself is an update, and a sync is none', async (t) => {
  for (const event of [changed({ name: 'Other' }), deactivated, reactivated])
    t.equal(
      existingProduct([added, event].reduce(productFold.evolve, productFold.initialState)).updated_at,
      at(1),
      event.type,
    )
  const state = [added, deactivated, syncFailed].reduce(productFold.evolve, productFold.initialState)
  t.match(existingProduct(state), { updated_at: at(1), is_active: false, at_providers: { stripe: Object } })
})

t.test('as a whole it is made what it is said to be, whatever else the saying holds', async (t) => {
  const product = existingProduct(given(t).when(addProduct.bind(null, adding)).then([added]))
  const record = (said: ProductContent, is_active?: boolean) =>
    recordContent({ occurred_at: at(1), content: said, is_active }, product)
  t.strictSame(record(content), [])
  t.strictSame(record({ ...product, name: 'Other' }), [changed({ name: 'Other' })])
  const line = { ...content, name: 'Other', id: product_id, occurred_at: at(2) }
  t.strictSame(record(line, false), [changed({ name: 'Other' }), deactivated])
})

t.test('what happens to a product that was never added is absorbed', async (t) => {
  for (const event of [changed({ name: 'Other' }), deactivated, reactivated, syncFailed])
    t.same(productFold.evolve(productFold.initialState, event), { status: 'none' }, event.type)
})
