import { startEventStore } from '@paylog/testing/eventStore'
import { waitFor } from '@paylog/testing/waitFor'
import t from 'tap'
import { admin, freshKey } from '../testing/commandApiHarness.ts'
import { syncHarness } from '../testing/productsHarness.ts'
import { createFakeCatalog } from '../testing/syncHarness.ts'

const { provider, fake } = createFakeCatalog()
const timing = { appendRetryTimeoutMs: 4_000, appendTimeoutMs: 4_000, readRetryTimeoutMs: 4_000, readTimeoutMs: 4_000 }
const log = await startEventStore(t)
const api = await syncHarness(t, { providers: [provider], log, timing })
const { sync, productOf, time } = api
t.afterEach(() => {
  fake.before = undefined
  fake.always = undefined
  time.now = () => new Date()
})

t.test('a dry run with a key is recorded and replayed', async (t) => {
  const id = await productOf()
  const headers = { ...admin, ...freshKey() }
  const dry = await sync({ product_ids: [id], dryRun: true }, headers)
  t.equal(dry.data.summary.created, 1)
  await sync({ product_ids: [id] })
  const again = await sync({ product_ids: [id], dryRun: true }, headers)
  t.equal(again.headers['idempotent-replayed'], 'true')
  t.same(again.data, dry.data)
})

t.test('a replayed sync report includes failed products', async (t) => {
  const id = await productOf()
  const headers = { ...admin, ...freshKey() }
  fake.always = { kind: 'unavailable' }
  const first = await sync({ product_ids: [id] }, headers)
  t.equal(first.data.failed, 1)
  fake.always = undefined
  const lines = api.logged.length
  t.same((await sync({ product_ids: [id] }, headers)).data, first.data)
  t.equal(api.logged.length, lines)
})

t.test("a slow sync that was overtaken by its retry returns the retry's report", async (t) => {
  const id = await productOf()
  const headers = { ...admin, ...freshKey() }
  const { promise, resolve } = Promise.withResolvers<void>()
  let calls = 0
  fake.before = async () => {
    if (calls++ === 0) await promise
  }
  const slow = sync({ product_ids: [id] }, headers)
  await waitFor(() => calls === 1, { what: 'the first call' })
  time.now = () => new Date(Date.now() + 30_000)
  const quick = await sync({ product_ids: [id] }, headers)
  t.equal(quick.status, 200)
  resolve()
  const late = await slow
  t.same(late.data, quick.data)
  t.equal(late.headers['idempotent-replayed'], 'true')
})

t.test('a sync that fails as a whole frees its key at once', async (t) => {
  const id = await productOf()
  const headers = { ...admin, ...freshKey() }
  fake.before = async () => {
    throw new TypeError('a bug')
  }
  t.equal((await sync({ product_ids: [id] }, headers)).status, 500)
  fake.before = undefined
  const again = await sync({ product_ids: [id] }, headers)
  t.equal(again.status, 200, again.text)
  t.notOk(again.headers['idempotent-replayed'])
})

t.test('a sync is 503 while the event store is down, and succeeds later with the same key', async (t) => {
  const id = await productOf()
  const headers = { ...admin, ...freshKey() }
  fake.before = async () => {
    fake.before = undefined
    await log.kill()
  }
  const { status, error } = await sync({ product_ids: [id] }, headers)
  t.same([status, error?.code], [503, 'event_store_unavailable'])
  await log.start()
  time.now = () => new Date(Date.now() + 30_000)
  const again = await sync({ product_ids: [id] }, headers)
  t.equal(again.status, 200, again.text)
  t.equal(again.data.successful, 1)
  t.equal(fake.activeOf(id).length, 1)
})
