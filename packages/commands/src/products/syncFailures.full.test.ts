// Product syncs that fail, crash, run at the same time or are repeated with a key. The calls' parts: the adapters' tests.
import { requestInFlightMs } from '@paylog/domain/idempotentRequest'
import { startEventStore } from '@paylog/testing/eventStore'
import t from 'tap'
import { admin, freshKey } from '../testing/commandApiHarness.ts'
import type { ProviderFailure } from '../testing/fakeSteps.ts'
import { productsHarness } from '../testing/productsHarness.ts'
import { crashAfter, metadata } from '../testing/workflowHarness.ts'
import { syncTimeoutMs } from './syncProduct.ts'
import { syncProducts } from './syncProducts.ts'

const timing = { appendRetryTimeoutMs: 4_000, appendTimeoutMs: 4_000, readRetryTimeoutMs: 4_000, readTimeoutMs: 4_000 }
const log = await startEventStore(t)
const harness = await productsHarness(t, { log, timing })
const { fake, shop, workflow, sync, syncOne, productOf, change, historyOf, advance } = harness
const { catalog } = fake
const several = (count: number) => Promise.all(Array.from({ length: count }, () => productOf()))
const inProgress = { status: 'failed', error: { code: 'sync_in_progress' } }
const keyed = () => ({ ...admin, ...freshKey() })

const failures: readonly (readonly [string, ProviderFailure, string])[] = [
  ['is rejected', { kind: 'rejected' }, 'provider_rejected'],
  ['is declined', { kind: 'declined' }, 'provider_rejected'],
  ['is rejected for its currency', { kind: 'currency' }, 'currency_not_supported'],
  ['does not reach the provider', { kind: 'unavailable' }, 'provider_unavailable'],
  ['gets no response', { kind: 'unknown' }, 'provider_outcome_unknown'],
  ['is executed but gets no response', { kind: 'unknown', done: true }, 'provider_outcome_unknown'],
]

for (const [name, failure, code] of failures)
  t.test(`a product sync whose call ${name} fails, and the next sync finishes without duplicates`, async (t) => {
    const options = { updatePrices: true }
    for (const status of ['created', 'updated']) {
      const id = await productOf()
      if (status === 'updated') {
        await syncOne(id)
        await change(id, { total_cents: 1500 })
      }
      fake.failures.set('put', [failure])
      t.match(await syncOne(id, options), { status: 'failed', error: { code } })
      t.equal((await historyOf(id)).at(-1), 'ProductSyncFailed')
      t.match(await syncOne(id, { ...options, dryRun: true }), { status })
      t.match(await syncOne(id, options), { status })
      t.match(await syncOne(id, options), { status: 'skipped' })
      const prices = status === 'created' ? ['1490 EUR once'] : ['1490 EUR once', '1500 EUR once']
      t.same(catalog.pricesOf(id), prices)
      t.equal(catalog.products.get(id)?.price?.worth, prices.at(-1))
    }
  })

t.test('a sync whose process was killed at any append is finished by the first sync after its lease', async (t) => {
  for (const appends of [0, 1]) {
    const id = await productOf()
    const request = { provider: shop, metadata, force: false, dryRun: false, updatePrices: false, product_ids: [id] }
    await t.rejects(syncProducts(crashAfter(appends, workflow), request), /the process died here/)
    t.same(await historyOf(id), appends === 0 ? [] : ['ProductSyncStarted'])
    if (appends === 1) t.match(await syncOne(id), inProgress)
    advance(requestInFlightMs)
    t.match(await syncOne(id), { status: 'created' })
    advance(0)
    t.match(await syncOne(id), { status: 'skipped' })
    t.equal(catalog.pricesOf(id).length, 1)
  }
})

t.test('a bug in an adapter fails the whole sync, no work continues, and the key is free at once', async (t) => {
  const product_ids = await several(30)
  const headers = keyed()
  fake.before = async (call) => {
    if (call === `put ${product_ids[0]}`) throw new TypeError('a bug')
  }
  t.equal((await sync({ product_ids }, headers)).status, 500)
  const { length } = fake.calls
  t.ok(length <= 16, 'no other product is started')
  fake.before = undefined
  t.equal((await sync({ product_ids: product_ids.slice(1), dryRun: true })).data.failed, 0)
  t.equal(fake.calls.length, length)
  const again = await sync({ product_ids }, headers)
  t.equal(again.status, 200, again.text)
  t.notOk(again.headers['idempotent-replayed'])
})

t.test('an unreachable provider is not called again after 16 failures in a row', async (t) => {
  const ids = await several(60)
  const [settled = ''] = ids.splice(59)
  await syncOne(settled)
  fake.always = { kind: 'unavailable' }
  fake.calls.length = 0
  const { data } = await sync({ product_ids: [...ids, settled, 'nothing'] })
  fake.always = undefined
  t.same(data.summary, { created: 0, updated: 0, skipped: 1, failed: 60 })
  t.ok(fake.calls.length >= 16 && fake.calls.length < 16 + 8, `${fake.calls.length} calls`)
  const last = data.results[58]
  t.match(last, { status: 'failed', error: { code: 'provider_unavailable', message: /not attempted/ } })
  t.match(data.results[59], { status: 'skipped' })
  t.match(data.results[60], { status: 'failed', error: { code: 'not_found' } })
  t.same(await historyOf(ids[58] ?? ''), [], 'nothing is recorded for a product that was not attempted')
  t.same((await sync({ product_ids: ids })).data.summary, { created: 59, updated: 0, skipped: 0, failed: 0 })
})

for (const response of [undefined, { kind: 'rejected' }] as const)
  t.test(
    `a provider that ${response ? 'rejects' : 'accepts'} some calls between failures is still called`,
    async (t) => {
      const product_ids = await several(40)
      const next = product_ids.map((_id, n) => (n % 12 === 11 ? response : ({ kind: 'unknown' } as const)))
      fake.failures.set('put', next)
      const { results, summary } = (await sync({ product_ids })).data
      const lost = results.filter(({ error }) => error?.code === 'provider_outcome_unknown')
      t.equal(lost.length, 37)
      t.equal(summary.created, response ? 0 : 3)
    },
  )

t.test('at most eight products are synced at once, and none is started after the timeout', async (t) => {
  const product_ids = await several(30)
  let running = 0
  let most = 0
  fake.before = async () => {
    most = Math.max(most, ++running)
    await new Promise((resolve) => setImmediate(resolve))
    if (fake.calls.length >= 12) advance(syncTimeoutMs)
  }
  fake.meanwhile = async () => void running--
  const { results, summary } = (await sync({ product_ids })).data
  t.ok(most <= 8 && most > 1, `${most} at once`)
  t.ok(summary.created >= 12 && summary.created <= 20)
  t.match(results.at(-1), { status: 'failed', error: { code: 'provider_unavailable', message: /took too long/ } })
})

/** Makes the first call wait before or after it takes effect, until the test opens the gate. */
function gateFirstPut(hook: 'before' | 'meanwhile' = 'before') {
  const { promise: opened, resolve: open } = Promise.withResolvers<void>()
  const { promise: reached, resolve: reach } = Promise.withResolvers<void>()
  fake[hook] = async () => {
    fake[hook] = undefined
    reach()
    await opened
  }
  return { open, reached }
}

t.test(
  'of sixteen syncs at the same moment one creates the product, and the others find it in progress [10.3-sync-lease]',
  async (t) => {
    const id = await productOf()
    const gate = gateFirstPut()
    let ended = 0
    const syncing = Array.from({ length: 16 }, async () => {
      const result = await syncOne(id)
      if (++ended === 15) gate.open()
      return result
    })
    const results = await Promise.all(syncing)
    t.equal(results.filter(({ status }) => status === 'created').length, 1)
    for (const result of results) if (result.status !== 'created') t.match(result, inProgress)
    t.same(await historyOf(id), ['ProductSyncStarted', 'ProductSynced'])
    t.equal(catalog.pricesOf(id).length, 1)
    t.match(await syncOne(id), { status: 'skipped' })
  },
)

t.test('a second sync of a product that changed meanwhile does not overtake the first', async (t) => {
  const id = await productOf()
  const gate = gateFirstPut()
  const slow = syncOne(id)
  await gate.reached
  await change(id, { name: 'A cup' })
  t.match(await syncOne(id), { ...inProgress, provider_product_id: null })
  t.match(await syncOne(id, { dryRun: true }), inProgress, 'also in a dry run')
  gate.open()
  t.match(await slow, { status: 'created' })
  t.match(catalog.products.get(id), { name: 'Sample mug' })
  t.match(await syncOne(id), { status: 'updated' })
  t.match(catalog.products.get(id), { name: 'A cup' })
  t.match(await syncOne(id), { status: 'skipped' })
})

t.test('a sync takes over from one that is slower than its lease, with the same key', async (t) => {
  for (const name of [undefined, 'A cup']) {
    const id = await productOf()
    catalog.requests.length = 0
    const gate = gateFirstPut()
    const slow = syncOne(id)
    await gate.reached
    if (name) await change(id, { name })
    advance(requestInFlightMs)
    t.match(await syncOne(id), { status: 'created' })
    gate.open()
    t.match(await slow, { status: 'created' })
    t.equal(new Set(catalog.requests.map(({ idempotency_key }) => idempotency_key)).size, 1)
    t.equal(catalog.pricesOf(id).length, 1)
    t.match(await syncOne(id), { status: name ? 'updated' : 'skipped' })
    t.match(catalog.products.get(id), { name: name ?? 'Sample mug' })
    t.match(await syncOne(id), { status: 'skipped' })
    advance(0)
  }
})

t.test('a slow sync that kept the price does not bring back the price that another sync replaced', async (t) => {
  const id = await productOf()
  const { provider_price_id: former } = await syncOne(id)
  await change(id, { name: 'A cup', total_cents: 1500 })
  const gate = gateFirstPut('meanwhile')
  const slow = syncOne(id)
  await gate.reached
  advance(requestInFlightMs)
  const { provider_price_id } = await syncOne(id, { updatePrices: true })
  t.not(provider_price_id, former)
  gate.open()
  await slow
  t.match(await syncOne(id), { status: 'skipped', provider_price_id })
})

t.test("with a key, a slow sync that was overtaken by its retry returns the retry's report", async (t) => {
  const id = await productOf()
  const headers = keyed()
  const gate = gateFirstPut()
  const slow = sync({ product_ids: [id] }, headers)
  await gate.reached
  advance(30_000)
  const quick = await sync({ product_ids: [id] }, headers)
  t.equal(quick.status, 200)
  gate.open()
  const late = await slow
  t.same(late.data, quick.data)
  t.equal(late.headers['idempotent-replayed'], 'true')
})

t.test('with a key, the report of a dry run is recorded and replayed after a sync', async (t) => {
  const id = await productOf()
  const headers = keyed()
  const dry = await sync({ product_ids: [id], dryRun: true }, headers)
  t.equal(dry.data.summary.created, 1)
  await syncOne(id)
  const again = await sync({ product_ids: [id], dryRun: true }, headers)
  t.equal(again.headers['idempotent-replayed'], 'true')
  t.same(again.data, dry.data)
})

t.test('a sync is 503 while the event store is down, and succeeds later with the same key', async (t) => {
  const id = await productOf()
  const headers = keyed()
  fake.before = async () => {
    fake.before = undefined
    await log.kill()
  }
  const { status, error } = await sync({ product_ids: [id] }, headers)
  t.same([status, error?.code], [503, 'event_store_unavailable'])
  await log.start()
  advance(30_000)
  const again = await sync({ product_ids: [id] }, headers)
  t.match([again.status, again.data.successful], [200, 1], again.text)
  t.equal(catalog.pricesOf(id).length, 1)
})
