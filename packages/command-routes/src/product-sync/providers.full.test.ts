// Product sync at fakes of the providers with a catalogue, including failing calls.
import t from 'tap'
import { providerFromEnv } from '../testing/fakeProviders.ts'
import { membership, syncProvidersHarness } from '../testing/productsHarness.ts'

const api = await syncProvidersHarness(t)
const { sync, change, historyOf, productOf, productsOf } = api

for (const { fake, provider_id, syncOne, isOnce } of api.at) {
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
    const variants = [{}, { force: true }, { updatePrices: true }]
    for (const options of variants) {
      const body = { product_ids: [fresh, known], provider_id, dryRun: true, ...options }
      const { data, headers } = await sync(body)
      t.same(data.summary, { created: 1, updated: 1, skipped: 0, failed: 0 })
      t.notOk('x-event-position' in headers, 'nothing was recorded')
    }
    t.equal(fake.calls(), before)
    t.same(await historyOf(fresh), [])
  })

  t.test(`${fake.id}: changed content is updated, and the price is kept [4.8-defaults]`, async (t) => {
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

  t.test(
    `${fake.id}: with updatePrices the price is replaced and the old one is archived [4.8-update-prices]`,
    async (t) => {
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
      t.same(fake.prices(id, 'active'), [900], 'a reused price')
      t.match(await syncOne(id, { updatePrices: true }), { status: 'skipped' })
    },
  )

  t.test(`${fake.id}: force syncs an unchanged product without duplicates [4.8-force]`, async (t) => {
    const id = await productOf()
    const first = await syncOne(id)
    t.same(await syncOne(id, { force: true }), { ...first, status: 'updated' })
    t.ok(isOnce(id))
    t.same(fake.prices(id, 'all'), [900])
  })

  t.test(`${fake.id}: one rejected product does not stop the sync of the others`, async (t) => {
    // Neither provider supports a non-zero third decimal.
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

const lost = [
  { kind: 'drop', commits: false },
  { kind: 'drop', commits: true },
  { kind: 'hang', commits: false },
  { kind: 'hang', commits: true },
  { kind: 'status', status: 500, commits: true },
  { kind: 'garbage', commits: true },
] as const

for (const { fake, syncOne, isOnce } of api.at) {
  t.test(`${fake.id}: a sync after a failed call finishes without duplicates`, async (t) => {
    for (const fault of lost)
      for (let step = 0; step < fake.writes; step++) {
        const id = await productOf()
        fake.faults.next(...Array(step).fill(undefined), fault)
        const first = await syncOne(id)
        const name = `${JSON.stringify(fault)} at call ${step}: ${first.status}`
        const second = await syncOne(id)
        t.match(second.status, first.status === 'failed' ? 'created' : 'skipped', name)
        t.ok(isOnce(id), name)
        t.same(fake.prices(id, 'active'), [900], name)
        t.match(await syncOne(id), { status: 'skipped' }, name)
      }
  })
}

for (const { fake, provider_id, syncOne, isOnce } of api.at) {
  t.test(`${fake.id}: sixteen concurrent syncs with a change in between create one product`, async (t) => {
    const original = api.providers.get(provider_id)
    api.providers.set(provider_id, await providerFromEnv(t, { ...fake.env, PROVIDER_TIMEOUT_MS: '10000' }))
    t.teardown(() => original && api.providers.set(provider_id, original))
    const id = await productOf()
    const syncing = Array.from({ length: 16 }, async (_, n) => {
      if (n === 8) await change(id, { description: 'Other', total_cents: 1000 })
      return syncOne(id, { updatePrices: true })
    })
    const results = await Promise.all(syncing)
    t.same(
      results.filter(({ status }) => status === 'failed'),
      [],
    )
    t.ok(isOnce(id))
    t.same(fake.prices(id, 'active'), [1000])
    t.equal(fake.descriptionOf(id), 'Other')
    t.match(await syncOne(id, { updatePrices: true }), { status: 'skipped' })
  })
}

for (const { fake, provider_id, isOnce } of api.at) {
  t.test(`${fake.id}: a sync after an outage finishes the remaining products`, async (t) => {
    const ids = await productsOf(20)
    fake.faults.next(...Array(20).fill(undefined))
    fake.faults.always({ kind: 'status', status: 503, commits: false })
    const { data } = await sync({ provider_id, product_ids: ids })
    fake.faults.always(undefined)
    t.ok(data.summary.created > 0 && data.summary.failed > 0, JSON.stringify(data.summary))
    const again = await sync({ provider_id, product_ids: ids })
    t.same(again.data.summary, { created: data.failed, updated: 0, skipped: data.successful, failed: 0 })
    for (const id of ids) {
      t.ok(isOnce(id))
      t.same(fake.prices(id, 'active'), [900])
    }
    t.same((await sync({ provider_id, product_ids: ids })).data.summary, {
      created: 0,
      updated: 0,
      skipped: 20,
      failed: 0,
    })
  })

  t.test(`${fake.id}: throttled sync calls are retried`, async (t) => {
    fake.limit(6)
    const ids = await productsOf(6)
    const { data } = await sync({ provider_id, product_ids: ids })
    t.same(data.summary, { created: 6, updated: 0, skipped: 0, failed: 0 })
    t.ok(fake.rejected() > 0, `${fake.rejected()} throttled`)
  })
}
