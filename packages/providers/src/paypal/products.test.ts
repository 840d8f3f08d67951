// Single calls about PayPal's products.
import { startFakePaypal } from '@paylog/testing/paypal/fakePaypal'
import t, { type Test } from 'tap'
import { unlimitedPace } from '../testing/providerHarness.ts'
import { createProduct, describeProduct, getProduct, type NewPaypalProduct } from './catalog.ts'
import { createPaypalApi } from './client.ts'

const id = '0198f3a0-0000-7000-8000-0000000000b1'
const product: NewPaypalProduct = { id, name: 'Ticket', description: null, type: 'DIGITAL' }

async function start(t: Test) {
  const fake = await startFakePaypal(t)
  const api = createPaypalApi({ ...fake, timeoutMs: 5000, pace: unlimitedPace })
  t.teardown(() => api.close())
  return { fake, api }
}

t.test('PayPal: a product is created once, with our id', async (t) => {
  const { fake, api } = await start(t)
  fake.faults.next({ kind: 'drop', commits: true })
  t.match(await createProduct(api, { idempotency_key: 'p1', product }), { id, name: 'Ticket', type: 'DIGITAL' })
  const [first, second] = fake.callsTo(/catalogs/)
  t.match(first, { method: 'POST', path: '/v1/catalogs/products', key: /^[0-9a-f]{64}$/ })
  t.equal(second?.key, first?.key)
  t.equal(fake.catalog.products.size, 1)
  t.equal(await createProduct(api, { idempotency_key: 'p2', product }), null)
  t.equal(fake.catalog.products.size, 1)
})

t.test('PayPal: a product’s description can be set and changed', async (t) => {
  const { api } = await start(t)
  await createProduct(api, { idempotency_key: 'p1', product })
  await describeProduct(api, id, 'For one evening')
  t.match(await getProduct(api, id), { id, description: 'For one evening' })
  await describeProduct(api, id, 'For two')
  t.match(await getProduct(api, id), { id, name: 'Ticket', description: 'For two' })
})

t.test('PayPal: a description can be removed, even when the response is lost', async (t) => {
  const { fake, api } = await start(t)
  await createProduct(api, { idempotency_key: 'p1', product: { ...product, description: 'For one evening' } })
  fake.faults.next({ kind: 'drop', commits: true })
  await describeProduct(api, id, null)
  t.strictSame(fake.catalog.products.get(id), { id, name: 'Ticket', type: 'DIGITAL' })
  await describeProduct(api, id, null)
  t.strictSame(await getProduct(api, id), { id, name: 'Ticket', type: 'DIGITAL', links: [] })
})

t.test('PayPal: an unknown product is null, and describing it is rejected', async (t) => {
  const { api } = await start(t)
  t.equal(await getProduct(api, 'PROD-none'), null)
  await t.rejects(describeProduct(api, 'PROD-none', 'x'), { kind: 'rejected', code: 'invalid_resource_id' })
})
