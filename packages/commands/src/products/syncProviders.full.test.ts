// Product sync at fakes of the providers with a catalogue, over their wire formats.
import { startFakePaypalCatalog, startFakeStripeCatalog } from '@paylog/testing/fakeProviders'
import t from 'tap'
import { providerFromEnv } from '../testing/fakeProviders.ts'
import { plan, productsHarness } from '../testing/productsHarness.ts'

const fakes = await Promise.all([startFakeStripeCatalog(t), startFakePaypalCatalog(t)])
const providers = await Promise.all(fakes.map(({ env }) => providerFromEnv(t, env)))
const api = await productsHarness(t, { providers })
const { sync, change, historyOf } = api
/** A recurring product, for which each provider with a catalogue keeps a price. */
const membership = { ...plan, description: 'Everything, every month', total_cents: 900 }
const productOf = (more: object = {}) => api.productOf({ ...membership, ...more })

for (const fake of fakes) {
  const provider_id = fake.id
  const syncOne = (id: string, more: object = {}) => api.syncOne(id, { provider_id, ...more })
  const isOnce = (id: string) => fake.products().filter((each) => each === id).length === 1

  t.test(`${fake.id}: a product is created, and then skipped without a call [1-product-sync]`, async (t) => {
    const id = await productOf()
    const created = await syncOne(id)
    t.match(created, { status: 'created', provider_product_id: id, provider_price_id: String })
    t.ok(isOnce(id))
    t.equal(fake.descriptionOf(id), membership.description)
    t.same(fake.prices(id, 'all'), [900])
    const before = fake.calls()
    t.same(await syncOne(id), { ...created, status: 'skipped' })
    t.equal(fake.calls(), before)
    t.same(await historyOf(id), ['ProductSyncStarted', 'ProductSynced'])
  })

  t.test(`${fake.id}: a dry run makes no provider call [4.8-dry-run]`, async (t) => {
    const [fresh, known] = [await productOf(), await productOf()]
    await syncOne(known)
    await change(known, { description: 'Other', total_cents: 1000 })
    const before = fake.calls()
    const { data, headers } = await sync({ product_ids: [fresh, known], provider_id, dryRun: true, updatePrices: true })
    t.same(data.summary, { created: 1, updated: 1, skipped: 0, failed: 0 })
    t.notOk('x-event-position' in headers, 'nothing was recorded')
    t.equal(fake.calls(), before)
  })

  t.test(
    `${fake.id}: changed content is updated; the price only with updatePrices [4.8-defaults 4.8-update-prices 10.3-sync-price]`,
    async (t) => {
      const id = await productOf()
      const { provider_price_id } = await syncOne(id)
      await change(id, { description: 'Other', total_cents: 1000 })
      t.match(await syncOne(id), { status: 'updated', price_differs: true, provider_price_id })
      t.equal(fake.descriptionOf(id), 'Other')
      t.same(fake.prices(id, 'all'), [900])
      const priced = await syncOne(id, { updatePrices: true })
      t.match(priced, { status: 'updated', price_differs: undefined })
      t.not(priced.provider_price_id, provider_price_id)
      t.same([fake.prices(id, 'active'), fake.prices(id, 'all')], [[1000], [900, 1000]], 'the old one is archived')
    },
  )

  t.test(`${fake.id}: force syncs an unchanged product without duplicates [4.8-force]`, async (t) => {
    const id = await productOf()
    const first = await syncOne(id)
    t.same(await syncOne(id, { force: true }), { ...first, status: 'updated' })
    t.ok(isOnce(id))
    t.same(fake.prices(id, 'all'), [900])
  })

  t.test(`${fake.id}: a sync after a failed one finishes the remaining products without duplicates`, async (t) => {
    // Neither provider supports a non-zero third decimal.
    const bad = await productOf({ currency: 'KWD', total_cents: 901 })
    const ids = [await productOf(), await productOf(), await productOf()]
    const product_ids = [bad, ...ids]
    await sync({ provider_id, product_ids: ids.slice(0, 1) })
    // One more call works, so that one product may be left without its price.
    fake.faults.next(undefined)
    fake.faults.always({ kind: 'drop', commits: true })
    t.match((await sync({ provider_id, product_ids })).data, { successful: 1, failed: 3 })
    fake.faults.always(undefined)
    const { data } = await sync({ provider_id, product_ids })
    t.same(data.summary, { created: 2, updated: 0, skipped: 1, failed: 1 })
    t.equal(data.results[0]?.error?.code, 'currency_not_supported')
    for (const id of ids) t.same([isOnce(id), fake.prices(id, 'active')], [true, [900]])
  })
}
