import { productStream } from '@paylog/event-store/streamName'
import { matchList } from '@paylog/testing/assertions'
import t from 'tap'
import { syncHarness } from '../testing/syncHarness.ts'

const harness = await syncHarness(t)
const { fake, add, change, sync, syncOne, historyOf } = harness

t.test('a product is created with its price, and its ids are recorded [4.8-create]', async (t) => {
  const id = await add()
  const { report, position } = await sync([id])
  const [price] = fake.activeOf(id)
  t.same(report, {
    total: 1,
    successful: 1,
    failed: 0,
    results: [{ product_id: id, status: 'created', provider_product_id: id, provider_price_id: price?.id }],
    summary: { created: 1, updated: 0, skipped: 0, failed: 0 },
  })
  const events = await harness.store.readStream(productStream(id))
  t.same(
    events.slice(1).map(({ type }) => type),
    ['ProductSyncStarted', 'ProductSynced'],
  )
  t.match(events.at(-1)?.position, position ?? {})
  t.match(events.at(-1)?.data, { provider_product_id: id, provider_price_id: price?.id, mapped_locally: false })
})

t.test('an unchanged product is skipped without a call or an event', async (t) => {
  const id = await add()
  const created = await syncOne(id)
  fake.calls.length = 0
  const { report, position } = await sync([id], { updatePrices: true })
  t.same(report.results, [{ ...created, status: 'skipped' }])
  t.equal(position, undefined)
  t.same(fake.calls, [])
  t.same(await historyOf(id), ['ProductSyncStarted', 'ProductSynced'])
})

t.test('a sync updates changed content and keeps the price', async (t) => {
  const id = await add()
  await syncOne(id)
  await change(id, { name: 'A cup', description: 'With a handle', product_type: 'digital' })
  fake.calls.length = 0
  t.match(await syncOne(id), { status: 'updated', price_differs: undefined })
  t.same(fake.calls, [`put ${id}`])
  t.same(fake.products.get(id), { name: 'A cup', description: 'With a handle', product_type: 'digital' })
})

t.test('a provider call contains the ids from the previous response', async (t) => {
  const id = await add()
  fake.requests.length = 0
  const { provider_product_id, provider_price_id } = await syncOne(id)
  await syncOne(id, { force: true })
  matchList(t, fake.requests, [
    {
      price: 'put',
      known: null,
      product: { product_id: id, price: { amount_cents: 1200, currency: 'EUR', recurring: null } },
    },
    { price: 'put', known: { provider_product_id, provider_price_id } },
  ])
})

t.test('fields that the provider keeps are reported, also when the product is skipped', async (t) => {
  const id = await add()
  fake.kept_fields = ['name']
  t.match(await syncOne(id), { status: 'created', kept_fields: ['name'] })
  fake.kept_fields = []
  t.match(await syncOne(id), { status: 'skipped', kept_fields: ['name'] })
  t.match(await syncOne(id, { force: true }), { status: 'updated', kept_fields: undefined })
})

t.test('a change of fields that are not synced is skipped', async (t) => {
  const id = await add()
  await syncOne(id)
  await change(id, { category_id: 'cups', tax_cents: 200, subtotal_cents: 1000 })
  t.match(await syncOne(id), { status: 'skipped', price_differs: undefined })
})

t.test('a different price is reported, and replaced only with updatePrices [10.3-sync-price]', async (t) => {
  const changes = [
    { total_cents: 1500 },
    { currency: 'USD' },
    { is_recurring: true, billing_interval: 'month' },
    { is_recurring: true, billing_interval: 'month', trial_days: 7 },
  ] as const
  for (const each of changes) {
    const id = await add()
    const { provider_price_id } = await syncOne(id)
    await change(id, each)
    fake.calls.length = 0
    t.match(await syncOne(id), { status: 'skipped', price_differs: true, provider_price_id })
    t.match(await syncOne(id, { dryRun: true }), { status: 'skipped', price_differs: true })
    t.same(fake.calls, [])
    const updated = await syncOne(id, { updatePrices: true })
    t.match(updated, { status: 'updated', price_differs: undefined })
    t.match(await syncOne(id, { updatePrices: true }), { status: 'skipped', price_differs: undefined })
    t.equal(fake.activeOf(id).length, 1)
  }
})

t.test('a price that is changed back reuses the earlier price', async (t) => {
  const id = await add()
  const first = await syncOne(id)
  for (const total_cents of [1500, 1200, 1500, 1200]) {
    await change(id, { total_cents })
    t.match(await syncOne(id, { updatePrices: true }), { status: 'updated' })
    t.same(fake.worthOf(id), [`${total_cents} EUR once`])
  }
  t.equal((await syncOne(id)).provider_price_id, first.provider_price_id)
})

t.test('a price that is created again gets a new idempotency key', async (t) => {
  const id = await add()
  const keys = () => fake.calls.filter((call) => call.startsWith('create ')).length
  fake.calls.length = 0
  await syncOne(id)
  // As if the prices were deleted at the provider.
  fake.prices.splice(0)
  t.match(await syncOne(id, { force: true }), { status: 'updated' })
  t.equal(keys(), 2)
  t.equal(new Set(fake.calls.filter((call) => call.startsWith('create '))).size, 2)
  t.equal(fake.activeOf(id).length, 1)
})

t.test('force syncs an unchanged product, and overwrites changes made at the provider', async (t) => {
  const id = await add()
  await syncOne(id)
  fake.products.set(id, { name: 'Not ours', description: null, product_type: 'physical' })
  t.match(await syncOne(id, { force: true, dryRun: true }), { status: 'updated' })
  t.match(await syncOne(id, { force: true }), { status: 'updated' })
  t.match(fake.products.get(id), { name: 'A mug' })
})

t.test('a product deleted at the provider is created again with its price by the next update', async (t) => {
  const id = await add()
  await syncOne(id)
  fake.products.delete(id)
  fake.prices.splice(0)
  await change(id, { name: 'A cup' })
  t.match(await syncOne(id), { status: 'updated', price_differs: undefined, provider_price_id: /^price_/ })
  t.equal(fake.activeOf(id).length, 1)
  t.match(await syncOne(id), { status: 'skipped' })
})

t.test('a dry run reports the expected results without a call or an event', async (t) => {
  const [fresh, unchanged, changed, inactive] = [await add(), await add(), await add(), await add({ is_active: false })]
  const ids = [fresh, unchanged, changed, inactive, '018f0000-0000-7000-8000-00000000dead']
  await sync([unchanged, changed])
  await change(changed, { name: 'A cup' })
  fake.calls.length = 0
  const before = await harness.store.head()
  const dry = await sync(ids, { dryRun: true })
  t.same(await harness.store.head(), before)
  t.same(fake.calls, [])
  t.equal(dry.position, undefined)
  const { report } = await sync(ids)
  t.same(
    dry.report.results.map(({ status, error }) => ({ status, error })),
    report.results.map(({ status, error }) => ({ status, error })),
  )
  t.same(dry.report.summary, { created: 1, updated: 1, skipped: 1, failed: 2 })
  t.match(dry.report.results[0], { provider_product_id: null, provider_price_id: null })
})

t.test('unknown ids, malformed ids and inactive products fail individually [10.3-sync-unknown]', async (t) => {
  const [good, inactive] = [await add(), await add({ is_active: false })]
  const unknown = '018f0000-0000-7000-8000-00000000beef'
  const { report } = await sync([unknown, 'no-id', '../product', inactive, good])
  t.match(report.results, [
    { product_id: unknown, status: 'failed', error: { code: 'not_found' }, provider_product_id: null },
    { product_id: 'no-id', status: 'failed', error: { code: 'not_found' } },
    { product_id: '../product', status: 'failed', error: { code: 'not_found' } },
    { product_id: inactive, status: 'failed', error: { code: 'product_inactive' } },
    { product_id: good, status: 'created' },
  ])
  t.match(report, { total: 5, successful: 1, failed: 4 })
  t.same(await historyOf(inactive), [])
})

t.test('an inactive product is not synced, and keeps its provider ids', async (t) => {
  const id = await add()
  const { provider_price_id } = await syncOne(id)
  await change(id, { is_active: false, name: 'Gone' })
  const result = await syncOne(id, { force: true })
  t.match(result, { status: 'failed', error: { code: 'product_inactive' }, provider_product_id: id, provider_price_id })
  t.match(fake.products.get(id), { name: 'A mug' })
})

t.test('a repeated product id is synced once, and reported as first written [10.3-sync-duplicates]', async (t) => {
  const [a, b] = [await add(), await add()]
  const { report } = await sync([a.toUpperCase(), b, a, 'Nothing', 'nothing', 'Nothing', b.toUpperCase()])
  t.same(
    report.results.map(({ product_id, status }) => [product_id, status]),
    [
      [a.toUpperCase(), 'created'],
      [b, 'created'],
      ['Nothing', 'failed'],
      ['nothing', 'failed'],
    ],
  )
  t.equal(report.total, 4)
  t.equal((await historyOf(a)).length, 2)
})

t.test('a product that fails the catalogue check fails without a call or an event', async (t) => {
  const id = await add({ currency: 'XAF' })
  fake.calls.length = 0
  const results = [await syncOne(id, { dryRun: true }), await syncOne(id)]
  for (const result of results)
    t.match(result, { status: 'failed', error: { code: 'currency_not_supported', message: 'XAF is not supported' } })
  t.same(fake.calls, [])
  t.same(await historyOf(id), [])
})

t.test('a provider without prices reports no price difference', async (t) => {
  fake.keepsPrices = false
  t.teardown(() => {
    fake.keepsPrices = true
  })
  const id = await add()
  t.match(await syncOne(id), { status: 'created', provider_price_id: null })
  await change(id, { total_cents: 1500 })
  t.match(await syncOne(id, { updatePrices: true }), { status: 'skipped', price_differs: undefined })
})

t.test('a provider without a catalogue is synced with our ids, without a call', async (t) => {
  const provider = { ...harness.shop, id: 'gateway', catalog: null }
  const id = await add()
  const mapped = { provider_product_id: id, provider_price_id: null, mapped_locally: true }
  fake.calls.length = 0
  t.match(await syncOne(id, { provider, dryRun: true }), { status: 'created', ...mapped })
  t.match(await syncOne(id, { provider }), { status: 'created', ...mapped })
  t.match(await syncOne(id, { provider }), { status: 'skipped', ...mapped })
  await change(id, { total_cents: 1500 })
  t.match(await syncOne(id, { provider }), { status: 'skipped', ...mapped })
  await change(id, { name: 'A cup' })
  t.match(await syncOne(id, { provider }), { status: 'updated', ...mapped })
  t.match(await syncOne(id, { provider, force: true }), { status: 'updated', ...mapped })
  t.same(
    (await historyOf(id)).filter((type) => type !== 'ProductChanged'),
    Array(3).fill('ProductSynced'),
  )
  t.same(fake.calls, [])
})

t.test('each provider has its own sync state of a product', async (t) => {
  const id = await add()
  await syncOne(id)
  t.match(await syncOne(id, { provider: { ...harness.shop, id: 'other' } }), { status: 'created' })
  t.match(await syncOne(id), { status: 'skipped' })
})
