// Single calls about PayPal's billing plans.

import { startFakePaypal } from '@paylog/testing/paypal/fakePaypal'
import t, { type Test } from 'tap'
import { unlimitedPace } from '../testing/providerHarness.ts'
import { createProduct } from './catalog.ts'
import { createPaypalApi } from './client.ts'
import {
  activatePlan,
  billingCyclesOf,
  createPlan,
  deactivatePlan,
  getPlan,
  isAtPrice,
  listPlans,
  renamePlan,
} from './plans.ts'
import { membership, monthly, productId, ticket } from './testing/catalogHarness.ts'

const price = { ...monthly, recurring: { interval: 'month', trial_days: 14 } } as const

async function start(t: Test) {
  const fake = await startFakePaypal(t)
  const api = createPaypalApi({ ...fake, timeoutMs: 5000, pace: unlimitedPace })
  t.teardown(() => api.close())
  const product = { id: productId, name: ticket.name, description: null, type: 'SERVICE' } as const
  await createProduct(api, { idempotency_key: 'p1', product })
  return { fake, api }
}

t.test('PayPal: a plan can be activated and deactivated repeatedly, and is renamed only while active', async (t) => {
  const { fake, api } = await start(t)
  const plan = {
    product_id: productId,
    name: membership.name,
    billing_cycles: billingCyclesOf(price),
    payment_preferences: {},
  }
  const { id } = await createPlan(api, { idempotency_key: 'k1', plan })
  t.equal((await createPlan(api, { idempotency_key: 'k1', plan })).id, id)
  await renamePlan(api, id, 'Friends')
  await deactivatePlan(api, id)
  await deactivatePlan(api, id)
  await renamePlan(api, id, 'Circle')
  t.match(fake.catalog.plans.get(id), { status: 'INACTIVE', name: 'Friends' })
  await activatePlan(api, id)
  await activatePlan(api, id)
  t.match(await getPlan(api, id), { status: 'ACTIVE', name: 'Friends' })
  await t.rejects(renamePlan(api, id, ''), { kind: 'rejected', code: 'invalid_string_min_length' })
})

t.test('PayPal: an unknown plan is null, and changing it is rejected', async (t) => {
  const { api } = await start(t)
  t.equal(await getPlan(api, 'P-1'), null)
  t.strictSame(await listPlans(api, 'no-product'), [])
  for (const change of [activatePlan(api, 'P-1'), deactivatePlan(api, 'P-1'), renamePlan(api, 'P-1', 'Friends')])
    await t.rejects(change, { kind: 'rejected', code: 'invalid_resource_id' })
  const incomplete = createPlan(api, { idempotency_key: 'k1', plan: { product_id: productId } })
  await t.rejects(incomplete, { kind: 'rejected', code: 'missing_required_parameter' })
})

t.test('PayPal: isAtPrice compares what a subscriber pays', (t) => {
  const [trial, regular] = billingCyclesOf(price)
  const free = { ...trial, pricing_scheme: undefined }
  const written = { ...regular, pricing_scheme: { fixed_price: { currency_code: 'EUR', value: '9.0' } } }
  const same: readonly (readonly unknown[])[] = [
    [trial, regular],
    [regular, trial],
    [free, regular],
    [trial, written],
  ]
  for (const cycles of same) t.ok(isAtPrice(cycles, price), JSON.stringify(cycles))
  const tiered = { pricing_scheme: { ...regular?.pricing_scheme, pricing_model: 'VOLUME', tiers: [] } }
  const discount = { ...trial, pricing_scheme: { fixed_price: { currency_code: 'EUR', value: '1.00' } } }
  const odd = { pricing_scheme: { fixed_price: { currency_code: 'EUR', value: '9.005' } } }
  const others: readonly (readonly unknown[])[] = [
    [],
    [regular],
    [trial],
    [trial, regular, { ...discount, sequence: 3 }],
    [discount, regular],
    [trial, { ...regular, ...tiered }],
    [trial, { ...regular, ...odd }],
    [trial, { ...regular, total_cycles: 12 }],
    [trial, { ...regular, total_cycles: undefined }],
    [trial, { ...regular, frequency: { interval_unit: 'MONTH', interval_count: 2 } }],
    [trial, { tenure_type: 'REGULAR' }],
    [trial, 'regular'],
  ]
  for (const cycles of others) t.notOk(isAtPrice(cycles, price), JSON.stringify(cycles))
  t.end()
})

t.test('PayPal: listing more than 50 pages of plans is rejected', async (t) => {
  const { fake, api } = await start(t)
  const cycles = billingCyclesOf(price)
  for (let count = 0; count < 51; count++)
    fake.catalog.addPlan({ product_id: productId, name: 'x', billing_cycles: cycles, payment_preferences: {} })
  fake.catalog.distortList({ pageSize: 1 })
  await t.rejects(listPlans(api, productId), {
    kind: 'rejected',
    code: 'too_many_plans',
    message: /more than 50 pages/,
  })
})
