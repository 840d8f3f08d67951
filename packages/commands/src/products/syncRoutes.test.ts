import type { Socket } from 'node:net'
import { createHttp } from '@paylog/runtime/http/http'
import { createLog } from '@paylog/runtime/telemetry/log'
import { startFakeAuthorizeNet } from '@paylog/testing/authorize-net/fakeAuthorizeNet'
import { waitFor } from '@paylog/testing/waitFor'
import t from 'tap'
import { admin } from '../testing/commandApiHarness.ts'
import { providerFromEnv } from '../testing/fakeProviders.ts'
import { syncHarness, syncUrl } from '../testing/productsHarness.ts'
import { createFakeCatalog } from '../testing/syncHarness.ts'
import { syncTimeoutMs } from './syncProduct.ts'
import { productSyncRoutes } from './syncRoutes.ts'

const { provider, fake } = createFakeCatalog()
const gateway = await startFakeAuthorizeNet(t)
const authorizeNet = await providerFromEnv(t, gateway.env)
const api = await syncHarness(t, { providers: [provider, authorizeNet] })
const { app, sync, syncOne, productOf, change, historyOf, lastPosition } = api
t.afterEach(() => {
  fake.before = undefined
})

const sockets: Socket[] = []
app.server.on('connection', (socket) => sockets.push(socket))
const origin = await app.listen({ host: '127.0.0.1', port: 0 })
const openSockets = () => sockets.filter(({ destroyed }) => !destroyed)
const post = (body: object, signal: AbortSignal | null = null) =>
  fetch(`${origin}${syncUrl}`, {
    method: 'POST',
    headers: { ...admin, 'content-type': 'application/json' },
    body: JSON.stringify(body),
    signal,
  })

t.test('a sync returns X-Event-Position only when it recorded something [10.3-sync-skipped]', async (t) => {
  const ids = [await productOf(), await productOf()]
  const first = await sync({ product_ids: ids, provider_id: 'shop' })
  t.equal(first.headers['x-event-position'], String(await lastPosition()))
  t.same(Object.keys(first.json), ['success', 'data'])
  const again = await sync({ product_ids: ids, provider_id: 'shop' })
  t.notOk('x-event-position' in again.headers, 'nothing was recorded')
  t.match(again.data, { total: 2, successful: 2, failed: 0 })
  t.same(again.data.summary, { created: 0, updated: 0, skipped: 2, failed: 0 })
})

t.test('a sync with a failed product is 200 [2.7-sync-results]', async (t) => {
  const id = await productOf()
  fake.rejected.add(id)
  const { status, json } = await sync({ product_ids: [id], provider_id: 'shop' })
  t.equal(status, 200)
  const error = { code: 'provider_rejected', message: 'The product was rejected (bad_product)' }
  const results = [{ product_id: id, status: 'failed', provider_product_id: null, provider_price_id: null, error }]
  const summary = { created: 0, updated: 0, skipped: 0, failed: 1 }
  t.same(json, { success: true, data: { total: 1, successful: 0, failed: 1, results, summary } })
  t.match(JSON.parse(api.logged.at(-1) ?? ''), { level: 'warn', failures: 1, code: 'provider_rejected' })
})

t.test('a sync to Authorize.Net maps products to our ids without a call [4.8-map]', async (t) => {
  const id = await productOf()
  const target = { provider_id: 'authorize-net' }
  const mapped = { product_id: id, provider_product_id: id, provider_price_id: null, mapped_locally: true }
  t.same(await syncOne(id, { ...target, dryRun: true }), { ...mapped, status: 'created' })
  t.same(await syncOne(id, target), { ...mapped, status: 'created' })
  t.same(await syncOne(id, target), { ...mapped, status: 'skipped' })
  await change(id, { name: 'Other' })
  t.same(await syncOne(id, target), { ...mapped, status: 'updated' })
  t.equal(gateway.calls.length, 0)
  t.same(await historyOf(id), ['ProductSynced', 'ProductChanged', 'ProductSynced'])
})

t.test('a sync continues when the client disconnects', async (t) => {
  const ids = await Promise.all(Array.from({ length: 20 }, () => productOf()))
  const { promise, resolve } = Promise.withResolvers<void>()
  t.teardown(resolve)
  let calls = 0
  fake.before = async () => {
    calls++
    await promise
  }
  const client = new AbortController()
  const request = post({ product_ids: ids, provider_id: 'shop' }, client.signal)
  await waitFor(() => calls >= 8, { what: 'the first products' })
  client.abort()
  await t.rejects(request, { name: 'AbortError' })
  resolve()
  await waitFor(async () => (await historyOf(ids.at(-1) ?? '')).includes('ProductSynced'), { what: 'the last product' })
  await waitFor(() => ids.every((id) => fake.activeOf(id).length > 0), { what: 'all products' })
  t.same(
    ids.filter((id) => fake.activeOf(id).length !== 1),
    [],
  )
})

t.test("the server's connection timeout does not cut off a long sync", async (t) => {
  const [slow, quick] = [await productOf(), await productOf()]
  const { promise, resolve } = Promise.withResolvers<void>()
  t.teardown(resolve)
  let calls = 0
  fake.before = async (call) => {
    if (call !== `put ${slow}`) return
    calls++
    await promise
  }
  const request = post({ product_ids: [slow], provider_id: 'shop' })
  await waitFor(() => calls === 1, { what: 'the call' })
  t.ok(
    openSockets().length > 0 && openSockets().every((socket) => (socket.timeout ?? 0) > syncTimeoutMs),
    'the idle connection is kept',
  )
  resolve()
  t.equal((await request).status, 200)
  t.equal((await post({ product_ids: [quick], provider_id: 'shop' })).status, 200)
  t.ok(
    openSockets().length > 0 && openSockets().every((socket) => (socket.timeout ?? Infinity) < syncTimeoutMs),
    'the default timeout applies afterwards',
  )
})

t.test("the server's handler timeout does not cut off a long sync", async (t) => {
  const limits: unknown[] = []
  const http = createHttp({ log: createLog({ app: 'test', level: 'silent' }) })
  http.addHook('onRoute', ({ url, config }) => void (url === syncUrl && limits.push(config?.handlerTimeoutMs)))
  await http.register(productSyncRoutes({ workflow: api.workflow }))
  t.ok(limits.length > 0 && limits.every((limit) => Number(limit) > syncTimeoutMs))
  await http.close()
})
