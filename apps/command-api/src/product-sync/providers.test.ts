import t from 'tap'
import { membership, syncAtProviders } from '../testing/syncAtProviders.ts'

const api = await syncAtProviders(t)
const { sync, change, historyOf, productOf } = api

for (const { fake, provider_id, syncOne, isOnce } of api.at) {
  t.test(`${fake.id}: created, and then skipped without a call`, async (t) => {
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

  t.test(`${fake.id}: a dry run makes no call at all, whatever it says`, async (t) => {
    const [fresh, known] = [await productOf(), await productOf()]
    await syncOne(known)
    await change(known, { description: 'Other', total_cents: 1000 })
    const before = fake.calls()
    const wishes = [{}, { force: true }, { updatePrices: true }]
    for (const wish of wishes) {
      const body = { product_ids: [fresh, known], provider_id, dryRun: true, ...wish }
      const { data, headers } = await sync(body)
      t.same(data.summary, { created: 1, updated: 1, skipped: 0, failed: 0 })
      t.notOk('x-event-position' in headers, 'nothing was recorded')
    }
    t.equal(fake.calls(), before)
    t.same(await historyOf(fresh), [])
  })

  t.test(`${fake.id}: changed content is updated, and the price is left alone`, async (t) => {
    const id = await productOf()
    const { provider_price_id } = await syncOne(id)
    await change(id, { description: 'Other', total_cents: 1000 })
    t.match(await syncOne(id), { status: 'updated', price_differs: true, provider_price_id })
    t.equal(fake.descriptionOf(id), 'Other')
    t.same(fake.prices(id, 'all'), [900])
    const before = fake.calls()
    t.match(await syncOne(id), { status: 'skipped', price_differs: true, provider_price_id })
    t.equal(fake.calls(), before)
  })

  t.test(`${fake.id}: with updatePrices the price is replaced and the old one is archived`, async (t) => {
    const id = await productOf()
    const first = await syncOne(id)
    await change(id, { total_cents: 1000 })
    const second = await syncOne(id, { updatePrices: true })
    t.match(second, { status: 'updated', price_differs: undefined })
    t.not(second.provider_price_id, first.provider_price_id)
    t.same(fake.prices(id, 'active'), [1000])
    t.same(fake.prices(id, 'all'), [900, 1000])
    await change(id, { total_cents: 900 })
    t.match(await syncOne(id, { updatePrices: true }), { status: 'updated' })
    t.same(fake.prices(id, 'active'), [900], 'one that comes back')
    t.match(await syncOne(id, { updatePrices: true }), { status: 'skipped' })
  })

  t.test(`${fake.id}: force goes over it once more, and doubles nothing`, async (t) => {
    const id = await productOf()
    const first = await syncOne(id)
    t.same(await syncOne(id, { force: true }), { ...first, status: 'updated' })
    t.ok(isOnce(id))
    t.same(fake.prices(id, 'all'), [900])
  })

  t.test(`${fake.id}: one bad product does not stop the others`, async (t) => {
    // Neither provider can express it: a third decimal, which is not zero.
    const bad = await productOf({ currency: 'KWD', total_cents: 901 })
    const [good, inactive] = [await productOf(), await productOf({ is_active: false })]
    const { data } = await sync({ provider_id, product_ids: [bad, good, inactive, 'nothing'] })
    t.same(
      data.results.map(({ status, error }) => error?.code ?? status),
      ['currency_not_supported', 'created', 'product_inactive', 'not_found'],
    )
    t.match(data, { total: 4, successful: 1, failed: 3 })
  })
}
