import { requestInFlightMs } from '@paylog/domain/idempotentRequest'
import t from 'tap'
import type { ProviderFailure } from '../testing/fakeProvider.ts'
import { syncHarness } from '../testing/syncHarness.ts'
import { crashAfter } from '../testing/workflowHarness.ts'
import { syncTimeoutMs } from './syncProduct.ts'

const harness = await syncHarness(t)
const { fake, add, change, sync, syncOne, historyOf } = harness
const several = (count: number) => Promise.all(Array.from({ length: count }, () => add()))

t.test('one rejected product does not stop the sync of the others', async (t) => {
  const ids = await several(5)
  const [, bad = ''] = ids
  fake.rejected.add(bad)
  const { report } = await sync(ids)
  t.same(report.summary, { created: 4, updated: 0, skipped: 0, failed: 1 })
  t.match(report.results[1], {
    product_id: bad,
    status: 'failed',
    provider_product_id: null,
    error: { code: 'provider_rejected', message: 'The product was rejected (bad_product)' },
  })
  t.same(await historyOf(bad), ['ProductSyncStarted', 'ProductSyncFailed'])
  fake.rejected.clear()
  t.same((await sync(ids)).report.summary, { created: 1, updated: 0, skipped: 4, failed: 0 })
})

const failures: readonly (readonly [string, ProviderFailure, string])[] = [
  ['is rejected', { kind: 'rejected' }, 'provider_rejected'],
  ['is declined', { kind: 'declined' }, 'provider_rejected'],
  ['is rejected for its currency', { kind: 'currency' }, 'currency_not_supported'],
  ['does not reach the provider', { kind: 'unavailable' }, 'provider_unavailable'],
  ['gets no response', { kind: 'unknown' }, 'provider_outcome_unknown'],
  ['is executed but gets no response', { kind: 'unknown', done: true }, 'provider_outcome_unknown'],
]

for (const verb of ['put', 'create', 'archive'])
  for (const [name, failure, code] of failures)
    t.test(`a ${verb} call that ${name} fails the sync, and the next sync finishes without duplicates`, async (t) => {
      const id = await add()
      if (verb === 'archive') {
        await syncOne(id)
        await change(id, { total_cents: 1500 })
      }
      const options = { updatePrices: true }
      fake.failures.set(verb, [failure])
      t.match(await syncOne(id, options), { status: 'failed', error: { code } })
      t.match(await syncOne(id, { ...options, dryRun: true }), { status: verb === 'archive' ? 'updated' : 'created' })
      t.match(await syncOne(id, options), { status: verb === 'archive' ? 'updated' : 'created' })
      t.match(await syncOne(id, options), { status: 'skipped' })
      t.same(fake.worthOf(id), [verb === 'archive' ? '1500 EUR once' : '1200 EUR once'])
      t.equal(fake.prices.filter(({ product_id }) => product_id === id).length, verb === 'archive' ? 2 : 1)
    })

t.test('a sync whose process was killed at any append is finished by the first sync after its lease', async (t) => {
  for (const appends of [0, 1]) {
    const id = await add()
    await t.rejects(syncOne(id, { on: crashAfter(appends, harness.workflow) }), /the process died here/)
    t.same(await historyOf(id), appends === 0 ? [] : ['ProductSyncStarted'])
    if (appends === 1) t.match(await syncOne(id), { status: 'failed', error: { code: 'sync_in_progress' } })
    harness.advance(requestInFlightMs)
    t.match(await syncOne(id), { status: 'created' })
    harness.advance(0)
    t.match(await syncOne(id), { status: 'skipped' })
    t.equal(fake.prices.filter(({ product_id }) => product_id === id).length, 1)
  }
})

t.test('a bug in an adapter fails the whole sync, and no work continues afterwards', async (t) => {
  const ids = await several(30)
  fake.calls.length = 0
  fake.before = async (call) => {
    if (call === `put ${ids[0]}`) throw new TypeError('a bug')
  }
  t.teardown(() => {
    fake.before = undefined
  })
  await t.rejects(sync(ids), { message: 'a bug' })
  const { length } = fake.calls
  t.ok(fake.calls.filter((call) => call.startsWith('put')).length <= 16, 'no other product is started')
  t.equal((await sync(ids.slice(1), { dryRun: true })).report.failed, 0)
  t.equal(fake.calls.length, length)
})

t.test('an unreachable provider is not called again after 16 failures in a row', async (t) => {
  const ids = await several(60)
  const [settled = ''] = ids.splice(59)
  await syncOne(settled)
  fake.always = { kind: 'unavailable' }
  fake.calls.length = 0
  const { report } = await sync([...ids, settled, 'nothing'])
  fake.always = undefined
  t.same(report.summary, { created: 0, updated: 0, skipped: 1, failed: 60 })
  t.ok(fake.calls.length >= 16 && fake.calls.length < 16 + 8, `${fake.calls.length} calls`)
  const last = report.results[58]
  t.match(last, { status: 'failed', error: { code: 'provider_unavailable', message: /not attempted/ } })
  t.match(report.results[59], { status: 'skipped' })
  t.match(report.results[60], { status: 'failed', error: { code: 'not_found' } })
  t.same(await historyOf(ids[58] ?? ''), [], 'nothing is recorded for a product that was not attempted')
  t.same((await sync(ids)).report.summary, { created: 59, updated: 0, skipped: 0, failed: 0 })
})

for (const response of [undefined, { kind: 'rejected' }] as const)
  t.test(
    `a provider that ${response ? 'rejects' : 'accepts'} some calls between failures is still called`,
    async (t) => {
      const ids = await several(40)
      fake.failures.set(
        'put',
        ids.map((_id, n) => (n % 12 === 11 ? response : { kind: 'unknown' })),
      )
      const { report } = await sync(ids)
      const lost = report.results.filter(({ error }) => error?.code === 'provider_outcome_unknown')
      t.equal(lost.length, 37)
      t.equal(report.summary.created, response ? 0 : 3)
      fake.failures.clear()
    },
  )

t.test('a provider that rejects every product does not count as down', async (t) => {
  const ids = await several(30)
  for (const id of ids) fake.rejected.add(id)
  const { report } = await sync(ids)
  t.same(new Set(report.results.map(({ error }) => error?.code)), new Set(['provider_rejected']))
  fake.rejected.clear()
})

t.test('at most eight products are synced at once, and none is started after the timeout', async (t) => {
  const ids = await several(30)
  let running = 0
  let most = 0
  let calls = 0
  fake.before = async (call) => {
    if (!call.startsWith('put')) return
    most = Math.max(most, ++running)
    await new Promise((resolve) => setImmediate(resolve))
    if (++calls === 12) harness.advance(syncTimeoutMs)
  }
  fake.meanwhile = async (call) => {
    if (call.startsWith('put')) running--
  }
  t.teardown(() => {
    fake.before = undefined
    fake.meanwhile = undefined
    harness.advance(0)
  })
  const { report } = await sync(ids)
  t.ok(most <= 8 && most > 1, `${most} at once`)
  t.ok(report.summary.created >= 12 && report.summary.created <= 20)
  t.match(report.results.at(-1), {
    status: 'failed',
    error: { code: 'provider_unavailable', message: /took too long/ },
  })
})
