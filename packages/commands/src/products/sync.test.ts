// Product syncs over HTTP. Which content and price a sync puts: domain/products/sync.test.ts; the calls: the adapters' tests.
import type { Socket } from 'node:net'
import { createHttp } from '@paylog/runtime/http/http'
import { createLog } from '@paylog/runtime/telemetry/log'
import { matchList } from '@paylog/testing/assertions'
import { startFakeAuthorizeNet } from '@paylog/testing/authorize-net/fakeAuthorizeNet'
import { waitFor } from '@paylog/testing/waitFor'
import t from 'tap'
import { admin, freshKey } from '../testing/commandApiHarness.ts'
import { providerFromEnv } from '../testing/fakeProviders.ts'
import { productsHarness, syncUrl } from '../testing/productsHarness.ts'
import { syncTimeoutMs } from './syncProduct.ts'
import { productSyncRoutes } from './syncRoutes.ts'

const gateway = await startFakeAuthorizeNet(t)
const api = await productsHarness(t, { providers: [await providerFromEnv(t, gateway.env)] })
const { app, fake, sync, syncOne, productOf, change, historyOf, eventsOf, recordsNothing } = api
const { catalog } = fake
const unknown = '018f0000-0000-7000-8000-00000000beef'

t.test(
  'a product is created with its price, and then skipped without a call or an event [4.8-create 10.3-sync-skipped]',
  async (t) => {
    const id = await productOf()
    const first = await sync({ product_ids: [id] })
    const ids = { provider_product_id: id, provider_price_id: catalog.products.get(id)?.price?.id }
    const result = { product_id: id, status: 'created', ...ids }
    const summary = { created: 1, updated: 0, skipped: 0, failed: 0 }
    t.same(first.json, { success: true, data: { total: 1, successful: 1, failed: 0, results: [result], summary } })
    t.same(await historyOf(id), ['ProductSyncStarted', 'ProductSynced'])
    const synced = (await eventsOf(id)).at(-1)
    t.match(synced?.data, { ...ids, mapped_locally: false })
    t.equal(first.headers['x-event-position'], String(synced?.position.commit))
    const again = await recordsNothing(t, () => sync({ product_ids: [id], updatePrices: true }))
    t.same(again.data.results, [{ ...result, status: 'skipped' }])
    t.match(again.data, { successful: 1, failed: 0, summary: { created: 0, skipped: 1 } })
    t.notOk('x-event-position' in again.headers)
    t.same(fake.calls, [`put ${id}`])
  },
)

t.test('a call has the ids of the previous response, and a new key after a success', async (t) => {
  const id = await productOf()
  catalog.requests.length = 0
  const { provider_product_id, provider_price_id } = await syncOne(id)
  await syncOne(id, { force: true })
  const price = { amount_cents: 1490, currency: 'EUR', recurring: null }
  matchList(t, catalog.requests, [
    { price: 'put', known: null, product: { product_id: id, price } },
    { price: 'put', known: { provider_product_id, provider_price_id } },
  ])
  t.equal(new Set(catalog.requests.map(({ idempotency_key }) => idempotency_key)).size, 2)
})

t.test('fields that the provider keeps are reported, also when the product is skipped', async (t) => {
  const id = await productOf()
  catalog.kept_fields = ['name']
  t.match(await syncOne(id), { status: 'created', kept_fields: ['name'] })
  catalog.kept_fields = []
  t.match(await syncOne(id), { status: 'skipped', kept_fields: ['name'] })
  t.match(await syncOne(id, { force: true }), { status: 'updated', kept_fields: undefined })
})

t.test('a product deleted at the provider is created again with its price by the next update', async (t) => {
  const id = await productOf()
  const { provider_price_id: deleted } = await syncOne(id)
  catalog.products.delete(id)
  await change(id, { name: 'A cup' })
  const again = await syncOne(id)
  t.match(again, { status: 'updated', price_differs: undefined, provider_price_id: /^price_/ })
  t.not(again.provider_price_id, deleted)
  t.match(await syncOne(id), { status: 'skipped' })
})

t.test(
  'a dry run reports what a sync does, without a call or an event; products fail individually [10.3-sync-unknown]',
  async (t) => {
    const [fresh, unchanged, changed, inactive] = await Promise.all([1, 2, 3, 4].map(() => productOf()))
    const synced = [unchanged, changed, inactive].map(String)
    await sync({ product_ids: synced })
    await change(synced[1] ?? '', { name: 'A cup' })
    await change(synced[2] ?? '', { name: 'Gone', is_active: false })
    const unsupported = await productOf({ currency: 'XAF' })
    const product_ids = [fresh, ...synced, unsupported, unknown, 'no-id', '../product']
    fake.calls.length = 0
    const dry = await recordsNothing(t, () => sync({ product_ids, dryRun: true }))
    t.same(fake.calls, [])
    t.notOk('x-event-position' in dry.headers)
    const { data } = await sync({ product_ids })
    t.same(fake.calls.toSorted(), [`put ${changed}`, `put ${fresh}`].toSorted())
    const failed = (code: string) => ({ status: 'failed', error: { code } })
    matchList(t, data.results, [
      { status: 'created' },
      { status: 'skipped' },
      { status: 'updated' },
      { ...failed('product_inactive'), provider_product_id: inactive, provider_price_id: /^price_/ },
      { ...failed('currency_not_supported'), error: { message: 'XAF is not supported' }, provider_product_id: null },
      { ...failed('not_found'), product_id: unknown, provider_product_id: null },
      { ...failed('not_found'), product_id: 'no-id' },
      { ...failed('not_found'), product_id: '../product' },
    ])
    t.match(data, { total: 8, successful: 3, failed: 5, summary: { created: 1, updated: 1, skipped: 1, failed: 5 } })
    t.same(await historyOf(unsupported), [])
    t.match(catalog.products.get(String(inactive)), { name: 'Sample mug' })
    const expected = (results: typeof data.results) => results.map(({ status, error }) => ({ status, error }))
    t.same(expected(dry.data.results), expected(data.results))
    t.match(dry.data, { summary: data.summary, results: [{ provider_product_id: null, provider_price_id: null }] })
  },
)

t.test('a repeated product id is synced once, and reported as first written [10.3-sync-duplicates]', async (t) => {
  const [a, b] = [await productOf(), await productOf()]
  const { data } = await sync({
    product_ids: [a.toUpperCase(), b, a, 'Nothing', 'nothing', 'Nothing', b.toUpperCase()],
  })
  t.same(
    data.results.map(({ product_id, status }) => [product_id, status]),
    [
      [a.toUpperCase(), 'created'],
      [b, 'created'],
      ['Nothing', 'failed'],
      ['nothing', 'failed'],
    ],
  )
  t.equal(data.total, 4)
  t.equal((await historyOf(a)).length, 2)
})

t.test('a sync with a failed product is 200, and a replay is not logged again [2.7-sync-results]', async (t) => {
  const id = await productOf()
  catalog.rejected.add(id)
  const headers = { ...admin, ...freshKey() }
  const { status, json } = await sync({ product_ids: [id] }, headers)
  t.equal(status, 200)
  const error = { code: 'provider_rejected', message: 'The product was rejected (bad_product)' }
  const results = [{ product_id: id, status: 'failed', provider_product_id: null, provider_price_id: null, error }]
  const summary = { created: 0, updated: 0, skipped: 0, failed: 1 }
  t.same(json, { success: true, data: { total: 1, successful: 0, failed: 1, results, summary } })
  const lines = api.logged.length
  t.match(JSON.parse(api.logged.at(-1) ?? ''), { level: 'warn', failures: 1, code: 'provider_rejected' })
  t.same((await sync({ product_ids: [id] }, headers)).json, json)
  t.equal(api.logged.length, lines)
})

t.test('a sync to Authorize.Net maps products to our ids without a call [4.8-map]', async (t) => {
  const id = await productOf()
  const target = { provider_id: 'authorize-net' }
  const mapped = { product_id: id, provider_product_id: id, provider_price_id: null, mapped_locally: true }
  t.same(await syncOne(id, { ...target, dryRun: true }), { ...mapped, status: 'created' })
  t.same(await syncOne(id, target), { ...mapped, status: 'created' })
  await change(id, { total_cents: 1500 })
  t.same(await syncOne(id, target), { ...mapped, status: 'skipped' })
  await change(id, { name: 'Other' })
  t.same(await syncOne(id, target), { ...mapped, status: 'updated' })
  t.same(await syncOne(id, { ...target, force: true }), { ...mapped, status: 'updated' })
  t.equal(gateway.calls.length, 0)
  t.same(
    (await historyOf(id)).filter((type) => type !== 'ProductChanged'),
    Array(3).fill('ProductSynced'),
  )
  t.match(await syncOne(id), { status: 'created' }, 'each provider has a sync state')
})

t.test('a malformed sync request is 400, and one to an unknown provider 422 before products are loaded', async (t) => {
  const product_ids = ['x']
  for (const body of [
    { product_ids: [] },
    { product_ids: Array(501).fill('x') },
    { product_ids: [1] },
    { product_ids: ['x'.repeat(256)] },
    { product_ids: ['a\u0000'] },
    { product_ids, provider_id: '' },
    { product_ids, provider_id: undefined },
    { product_ids, force: 'true' },
    { product_ids, dry_run: true },
  ]) {
    const { status, error } = await recordsNothing(t, () => sync(body))
    t.match([status, error?.code], [400, 'invalid_request'], JSON.stringify(body).slice(0, 60))
  }
  for (const provider_id of ['stripe', 'SHOP', 'nobody', '__proto__']) {
    const { status, error } = await recordsNothing(t, () => sync({ product_ids, provider_id }))
    t.match([status, error?.code], [422, 'provider_not_enabled'], provider_id)
    t.same(error?.details, { enabled: ['shop', 'authorize-net'] })
  }
})

t.test('the report of 500 long product ids can be recorded', async (t) => {
  const product_ids = Array.from({ length: 500 }, (_, n) => `${n}`.padStart(255, 'é'))
  const headers = { ...admin, ...freshKey() }
  const first = await sync({ product_ids }, headers)
  t.match([first.status, first.data.failed], [200, 500])
  const again = await sync({ product_ids }, headers)
  t.equal(again.headers['idempotent-replayed'], 'true')
  t.same(again.data, first.data)
})

const sockets: Socket[] = []
app.server.on('connection', (socket) => sockets.push(socket))
const origin = await app.listen({ host: '127.0.0.1', port: 0 })
const openSockets = () => sockets.filter(({ destroyed }) => !destroyed)
const post = (product_ids: readonly string[], signal: AbortSignal | null = null) =>
  fetch(`${origin}${syncUrl}`, {
    method: 'POST',
    headers: { ...admin, 'content-type': 'application/json' },
    body: JSON.stringify({ product_ids, provider_id: 'shop' }),
    signal,
  })

t.test('a sync continues when the client disconnects', async (t) => {
  const ids = await Promise.all(Array.from({ length: 20 }, () => productOf()))
  const { promise, resolve } = Promise.withResolvers<void>()
  t.teardown(resolve)
  fake.before = () => promise
  const client = new AbortController()
  const request = post(ids, client.signal)
  await waitFor(() => fake.calls.length >= 8, { what: 'the first products' })
  client.abort()
  await t.rejects(request, { name: 'AbortError' })
  resolve()
  await waitFor(() => ids.every((id) => catalog.products.has(id)), { what: 'all products' })
  await waitFor(async () => (await historyOf(ids.at(-1) ?? '')).includes('ProductSynced'), { what: 'the last product' })
})

t.test("the server's timeouts of connections and handlers do not cut off a long sync", async (t) => {
  const [slow, quick] = [await productOf(), await productOf()]
  const { promise, resolve } = Promise.withResolvers<void>()
  t.teardown(resolve)
  fake.before = (call) => (call === `put ${slow}` ? promise : Promise.resolve())
  const request = post([slow])
  await waitFor(() => fake.calls.length === 1, { what: 'the call' })
  const isKept = openSockets().map(({ timeout = 0 }) => timeout > syncTimeoutMs)
  t.ok(isKept.length > 0 && !isKept.includes(false), 'the idle connection is kept')
  resolve()
  t.equal((await request).status, 200)
  t.equal((await post([quick])).status, 200)
  const isDefault = openSockets().map(({ timeout = Infinity }) => timeout < syncTimeoutMs)
  t.ok(isDefault.length > 0 && !isDefault.includes(false), 'the default applies afterwards')
  const limits: unknown[] = []
  const http = createHttp({ log: createLog({ app: 'test', level: 'silent' }) })
  http.addHook('onRoute', ({ url, config }) => void (url === syncUrl && limits.push(config?.handlerTimeoutMs)))
  await http.register(productSyncRoutes({ workflow: api.workflow }))
  t.ok(limits.length > 0 && limits.every((limit) => Number(limit) > syncTimeoutMs))
  await http.close()
})
