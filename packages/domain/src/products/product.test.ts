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

/** Expects the change to record exactly these events. */
function expectChange(t: Test, history: ProductEvent[], changes: ProductChanges, expected: ProductEvent[]) {
  const state = history.reduce(productFold.evolve, productFold.initialState)
  t.strictSame(change(changes)(state), expected, JSON.stringify(changes))
}

t.test('adding a product records its content, which the API resource shows', async (t) => {
  const product = existingProduct(given(t).when(addProduct.bind(null, adding)).then([added]))
  const resource = { id: product_id, ...content, is_active: true, created_at: at(0), updated_at: at(0) }
  t.strictSame(productResource(product), resource)
  const inactive = given(t)
    .when(addProduct.bind(null, { ...adding, is_active: false }))
    .then([{ type: 'ProductAdded', data: { is_active: false } }])
  t.equal(existingProduct(inactive).is_active, false)
})

t.test('adding a product that exists records nothing', async (t) => {
  const again = addProduct.bind(null, { ...adding, name: 'Other' })
  for (const history of [[added], [added, deactivated]])
    t.match(
      given(t, ...history)
        .when(again)
        .then([]),
      { name: 'Sample mug' },
    )
})

t.test('a product change records only the fields with a new value', async (t) => {
  expectChange(t, [added], { name: 'Other', currency: 'eur', is_recurring: false }, [changed({ name: 'Other' })])
  expectChange(t, [added], { total_cents: 1500 }, [changed({ subtotal_cents: 1500, total_cents: 1500 })])
  expectChange(t, [added], { tax_cents: 10 }, [changed({ tax_cents: 10, total_cents: 1500 })])
  expectChange(t, [added, changed({ description: 'x' })], { description: null }, [changed({ description: null })])
  const recurring = { is_recurring: true, billing_interval: 'month', trial_days: 7 } as const
  expectChange(t, [added], recurring, [changed(recurring)])
})

t.test('a product change without new values records nothing', async (t) => {
  const { product_id: _, occurred_at: __, request_fingerprint: ___, ...everything } = adding
  for (const same of [
    {},
    everything,
    { is_active: true },
    { currency: 'eur' },
    { total_cents: 1490 },
    { name: content.name },
  ])
    expectChange(t, [added], same, [])
  expectChange(t, [added, deactivated], { is_active: false }, [])
  expectChange(t, [added, deactivated, reactivated], { is_active: true }, [])
  expectChange(t, [added, changed({ name: 'Other' })], { name: 'Other' }, [])
})

t.test('activating and deactivating a product are separate events', async (t) => {
  expectChange(t, [added], { is_active: false }, [deactivated])
  expectChange(t, [added, deactivated], { is_active: true }, [reactivated])
  expectChange(t, [added, deactivated], { name: 'Other' }, [changed({ name: 'Other' })])
  expectChange(t, [added], { is_active: false, name: 'Other' }, [changed({ name: 'Other' }), deactivated])
})

t.test('changing a product that does not exist is not_found', async (t) => {
  given(t)
    .when(change({ name: 'Other' }))
    .thenThrows('not_found')
})

t.test('every product change updates updated_at in the resource, and a sync does not', async (t) => {
  const after = (...events: ProductEvent[]) =>
    existingProduct([added, ...events].reduce(productFold.evolve, productFold.initialState))
  for (const event of [changed({ name: 'Other' }), deactivated, reactivated])
    t.match(productResource(after(event)), { created_at: at(0), updated_at: at(1) }, event.type)
  t.match(productResource(after(changed({ description: 'x' }), deactivated)), { description: 'x', is_active: false })
  t.match(after(deactivated, syncFailed), { updated_at: at(1), is_active: false, at_providers: { stripe: Object } })
})

t.test('recordContent records only changed content fields and ignores other properties', async (t) => {
  const product = existingProduct(given(t).when(addProduct.bind(null, adding)).then([added]))
  const record = (content: ProductContent, is_active?: boolean) =>
    recordContent({ occurred_at: at(1), content, is_active }, product)
  t.strictSame(record(content), [])
  t.strictSame(record({ ...product, name: 'Other' }), [changed({ name: 'Other' })])
  const line = { ...content, name: 'Other', id: product_id, occurred_at: at(2) }
  t.strictSame(record(line, false), [changed({ name: 'Other' }), deactivated])
})

t.test('events of a product that was never added leave the state unchanged', async (t) => {
  for (const event of [changed({ name: 'Other' }), deactivated, reactivated, syncFailed])
    t.same(productFold.evolve(productFold.initialState, event), { status: 'none' }, event.type)
})
