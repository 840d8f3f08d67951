import t from 'tap'
import { type CatalogFailure, syncHarness } from '../testing/syncHarness.ts'
import { crashAfter } from '../testing/workflowHarness.ts'
import { syncTimeoutMs } from './syncProduct.ts'

const harness = await syncHarness(t)
const { stage, add, change, sync, syncOne, historyOf } = harness
const several = (count: number) => Promise.all(Array.from({ length: count }, () => add()))

t.test('one bad product does not stop the others', async (t) => {
  const ids = await several(5)
  const [, bad = ''] = ids
  stage.rejected.add(bad)
  const { report } = await sync(ids)
  t.same(report.summary, { created: 4, updated: 0, skipped: 0, failed: 1 })
  t.match(report.results[1], {
    product_id: bad,
    status: 'failed',
    provider_product_id: null,
    error: { code: 'provider_rejected', message: 'This one is no good (bad_product)' },
  })
  t.same(await historyOf(bad), ['ProductSyncStarted', 'ProductSyncFailed'])
  stage.rejected.clear()
  t.same((await sync(ids)).report.summary, { created: 1, updated: 0, skipped: 4, failed: 0 })
})

const failures: readonly (readonly [string, CatalogFailure, string])[] = [
  ['refused', { kind: 'rejected' }, 'provider_rejected'],
  ['declined', { kind: 'declined' }, 'provider_rejected'],
  ['refused for its currency', { kind: 'currency' }, 'currency_not_supported'],
  ['not reached', { kind: 'unavailable' }, 'provider_unavailable'],
  ['not answered', { kind: 'unknown' }, 'provider_outcome_unknown'],
  ['done and not answered', { kind: 'unknown', done: true }, 'provider_outcome_unknown'],
]

for (const verb of ['put', 'create', 'archive'])
  for (const [name, mishap, code] of failures)
    t.test(`a step that is ${name} (${verb}) fails, and the next sync finishes without doubling`, async (t) => {
      const id = await add()
      if (verb === 'archive') {
        await syncOne(id)
        await change(id, { total_cents: 1500 })
      }
      const wish = { updatePrices: true }
      stage.failures.set(verb, [mishap])
      t.match(await syncOne(id, wish), { status: 'failed', error: { code } })
      t.match(await syncOne(id, { ...wish, dryRun: true }), { status: verb === 'archive' ? 'updated' : 'created' })
      t.match(await syncOne(id, wish), { status: verb === 'archive' ? 'updated' : 'created' })
      t.match(await syncOne(id, wish), { status: 'skipped' })
      t.same(
        stage.activeOf(id).map(({ worth }) => worth),
        [verb === 'archive' ? '1500 EUR once' : '1200 EUR once'],
      )
      t.equal(stage.prices.filter(({ product_id }) => product_id === id).length, verb === 'archive' ? 2 : 1)
    })

t.test('a sync that failed is not skipped, even if the product was changed back', async (t) => {
  const id = await add()
  await syncOne(id)
  await change(id, { name: 'A cup' })
  stage.failures.set('put', [{ kind: 'unknown', done: true }])
  await syncOne(id)
  await change(id, { name: 'A mug' })
  t.match(stage.products.get(id), { name: 'A cup' })
  t.match(await syncOne(id), { status: 'updated' })
  t.match(stage.products.get(id), { name: 'A mug' })
})

t.test('a process that dies anywhere leaves what the next one finishes', async (t) => {
  for (const appends of [0, 1]) {
    const id = await add()
    await t.rejects(syncOne(id, { on: crashAfter(appends, harness.workflow) }), /the process died here/)
    t.same(await historyOf(id), appends === 0 ? [] : ['ProductSyncStarted'])
    t.match(await syncOne(id), { status: 'created' })
    t.match(await syncOne(id), { status: 'skipped' })
    t.equal(stage.prices.filter(({ product_id }) => product_id === id).length, 1)
  }
})

t.test('a price that was put by one that died is found by the next one, asked for or not', async (t) => {
  const id = await add()
  const { provider_price_id: former } = await syncOne(id)
  await change(id, { total_cents: 1500 })
  await t.rejects(syncOne(id, { updatePrices: true, on: crashAfter(1, harness.workflow) }), /the process died here/)
  const [present] = stage.activeOf(id)
  t.not(present?.id, former, 'the former one is archived')
  t.match(await syncOne(id), { status: 'updated', provider_price_id: present?.id, price_differs: undefined })
  t.match(await syncOne(id), { status: 'skipped', provider_price_id: present?.id, price_differs: undefined })
})

t.test('a mistake in an adapter is no failure of a product, and nothing goes on behind the answer', async (t) => {
  const ids = await several(30)
  stage.calls.length = 0
  stage.before = async (call) => {
    if (call === `put ${ids[0]}`) throw new TypeError('a mistake')
  }
  t.teardown(() => {
    stage.before = undefined
  })
  await t.rejects(sync(ids), { message: 'a mistake' })
  const { length } = stage.calls
  t.ok(stage.calls.filter((call) => call.startsWith('put')).length <= 16, 'no other product is begun')
  t.equal((await sync(ids.slice(1), { dryRun: true })).report.failed, 0)
  t.equal(stage.calls.length, length)
})

t.test('a provider that is down is left alone after a while', async (t) => {
  const ids = await several(60)
  const [settled = ''] = ids.splice(59)
  await syncOne(settled)
  stage.always = { kind: 'unavailable' }
  stage.calls.length = 0
  const { report } = await sync([...ids, settled, 'nothing'])
  stage.always = undefined
  t.same(report.summary, { created: 0, updated: 0, skipped: 1, failed: 60 })
  t.ok(stage.calls.length >= 16 && stage.calls.length < 16 + 8, `${stage.calls.length} calls`)
  const last = report.results[58]
  t.match(last, { status: 'failed', error: { code: 'provider_unavailable', message: /not attempted/ } })
  t.match(report.results[59], { status: 'skipped' })
  t.match(report.results[60], { status: 'failed', error: { code: 'not_found' } })
  t.same(await historyOf(ids[58] ?? ''), [], 'nothing is recorded of what was not attempted')
  t.same((await sync(ids)).report.summary, { created: 59, updated: 0, skipped: 0, failed: 0 })
})

for (const answer of [undefined, { kind: 'rejected' }] as const)
  t.test(`a provider that ${answer ? 'refuses' : 'does'} something now and then is not left alone`, async (t) => {
    const ids = await several(40)
    stage.failures.set(
      'put',
      ids.map((_id, n) => (n % 12 === 11 ? answer : { kind: 'unknown' })),
    )
    const { report } = await sync(ids)
    const lost = report.results.filter(({ error }) => error?.code === 'provider_outcome_unknown')
    t.equal(lost.length, 37)
    t.equal(report.summary.created, answer ? 0 : 3)
    stage.failures.clear()
  })

t.test('one that refuses every product is not down', async (t) => {
  const ids = await several(30)
  for (const id of ids) stage.rejected.add(id)
  const { report } = await sync(ids)
  t.same(new Set(report.results.map(({ error }) => error?.code)), new Set(['provider_rejected']))
  stage.rejected.clear()
})

t.test('no more than eight products are under way at once, and after some minutes no other is begun', async (t) => {
  const ids = await several(30)
  let under = 0
  let most = 0
  let calls = 0
  stage.before = async (call) => {
    if (!call.startsWith('put')) return
    most = Math.max(most, ++under)
    await new Promise((resolve) => setImmediate(resolve))
    if (++calls === 12) harness.advance(syncTimeoutMs)
  }
  stage.meanwhile = async (call) => {
    if (call.startsWith('put')) under--
  }
  t.teardown(() => {
    stage.before = undefined
    stage.meanwhile = undefined
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
