import { idempotentRequestStream } from '@paylog/event-store/streamName'
import { startEventStore } from '@paylog/testing/eventStore'
import { waitFor } from '@paylog/testing/waitFor'
import { createFakeCatalog } from '@paylog/workflows/testing/syncHarness'
import t from 'tap'
import { requestIdentity } from '../idempotency.ts'
import { admin, adminId, freshKey } from '../testing/commandApiHarness.ts'
import { syncHarness, syncUrl } from '../testing/productsHarness.ts'

const { provider, fake } = createFakeCatalog()
const timing = { appendRetryTimeoutMs: 4_000, appendTimeoutMs: 4_000, readRetryTimeoutMs: 4_000, readTimeoutMs: 4_000 }
const log = await startEventStore(t)
const api = await syncHarness(t, { providers: [provider], log, timing })
const { sync, productOf, change, recordsNothing, store, time } = api
t.afterEach(() => {
  fake.before = undefined
  fake.always = undefined
  time.now = () => new Date()
})

const administrator = {
  kind: 'session',
  user_id: adminId,
  user_type: 'admin',
  user_email: null,
  is_administrator: true,
} as const
const requestTypes = async (key: { readonly 'idempotency-key': string }, body: object) => {
  const { id } = requestIdentity(store.hash, key['idempotency-key'], administrator, `POST ${syncUrl}`, body)
  return (await store.readStream(idempotentRequestStream(id))).map(({ type }) => type)
}
const positionOf = ({ headers }: { readonly headers: Readonly<Record<string, unknown>> }) => headers['x-event-position']

t.test('a repeated sync with the same key returns the first report, also after changes', async (t) => {
  const id = await productOf()
  const key = freshKey()
  const body = { product_ids: [id] }
  const first = await sync(body, { ...admin, ...key })
  t.equal(first.status, 200)
  t.equal(first.data.summary.created, 1)
  t.equal(positionOf(first), String(await api.lastPosition()))
  t.notOk(first.headers['idempotent-replayed'])
  t.same(await requestTypes(key, body), ['IdempotentRequestStarted', 'IdempotentRequestEnded'])
  await change(id, { name: 'A cup' })
  fake.calls.length = 0
  const again = await recordsNothing(t, () => sync(body, { ...admin, ...key }))
  t.same(again.json, first.json)
  t.equal(again.headers['idempotent-replayed'], 'true')
  t.equal(positionOf(again), positionOf(first))
  t.same(fake.calls, [])
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

t.test('another sync request with the same key is rejected', async (t) => {
  const id = await productOf()
  const headers = { ...admin, ...freshKey() }
  await sync({ product_ids: [id] }, headers)
  for (const other of [
    { product_ids: [id], force: true },
    { product_ids: [id, id] },
    { product_ids: [id], dryRun: false },
  ]) {
    const { status, error } = await recordsNothing(t, () => sync(other, headers))
    t.same([status, error?.code], [422, 'idempotency_key_reused'])
  }
})

t.test('a rejected sync request leaves the key unused', async (t) => {
  const id = await productOf()
  const headers = { ...admin, ...freshKey() }
  t.equal((await sync({ product_ids: [] }, headers)).status, 400)
  t.equal((await sync({ product_ids: [id], provider_id: 'nobody' }, headers)).status, 422)
  t.equal((await sync({ product_ids: [id] }, headers)).status, 200)
})

t.test('of concurrent syncs with the same key only one is executed', async (t) => {
  const id = await productOf()
  const headers = { ...admin, ...freshKey() }
  fake.calls.length = 0
  const { promise, resolve } = Promise.withResolvers<void>()
  fake.before = () => promise
  const rejected: unknown[] = []
  const all = Array.from({ length: 8 }, async () => {
    const response = await sync({ product_ids: [id] }, headers)
    if (response.status !== 200) rejected.push([response.status, response.error?.code])
    return response
  })
  // A request after the end would be replayed, so all others must arrive before.
  await waitFor(() => rejected.length === 7, { what: 'all but one to be rejected' })
  t.same(rejected, Array(7).fill([409, 'idempotency_key_in_flight']))
  resolve()
  const responses = await Promise.all(all)
  t.equal(responses.filter(({ status }) => status === 200).length, 1)
  t.equal(fake.calls.filter((call) => call === `put ${id}`).length, 1)
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
