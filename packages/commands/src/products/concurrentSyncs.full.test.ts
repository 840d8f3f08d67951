import { setImmediate as turn } from 'node:timers/promises'
import { requestInFlightMs } from '@paylog/domain/idempotentRequest'
import t from 'tap'
import { syncHarness } from '../testing/syncHarness.ts'

const harness = await syncHarness(t)
const { fake, add, change, syncOne, historyOf, productOf } = harness
t.afterEach(() => {
  fake.before = undefined
})

/** A point at which a step waits until the test opens it. */
function createGate() {
  const { promise: opened, resolve: open } = Promise.withResolvers<void>()
  const { promise: reached, resolve: reach } = Promise.withResolvers<void>()
  return {
    open,
    reached,
    async wait() {
      reach()
      await opened
    },
  }
}

/** Makes the first put wait. */
function gateFirstPut() {
  const gate = createGate()
  let isFirst = true
  fake.before = async (call) => {
    if (!call.startsWith('put') || !isFirst) return
    isFirst = false
    await gate.wait()
  }
  return gate
}

const inProgress = { status: 'failed', error: { code: 'sync_in_progress' } }

t.test(
  'of sixteen syncs at the same moment one creates the product, and the others find it in progress [10.3-sync-lease]',
  async (t) => {
    const id = await add()
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
    t.equal(fake.prices.filter(({ product_id }) => product_id === id).length, 1)
    t.match(await syncOne(id), { status: 'skipped' })
  },
)

t.test('a second sync of a product that changed meanwhile does not overtake the first', async (t) => {
  const id = await add()
  const gate = gateFirstPut()
  const slow = syncOne(id)
  await gate.reached
  await change(id, { name: 'A cup' })
  t.match(await syncOne(id), { ...inProgress, provider_product_id: null })
  t.match(await syncOne(id, { dryRun: true }), inProgress, 'also in a dry run')
  gate.open()
  t.match(await slow, { status: 'created' })
  t.match(fake.products.get(id), { name: 'A mug' })
  t.match(await syncOne(id), { status: 'updated' })
  t.match(fake.products.get(id), { name: 'A cup' })
  t.match(await syncOne(id), { status: 'skipped' })
})

t.test('syncs with changes in between leave the last change at the provider after a last sync', async (t) => {
  for (let n = 0; n < 5; n++) {
    const id = await add()
    fake.before = () => turn()
    const syncing = Array.from({ length: 16 }, async (_, each) => {
      for (let turns = 0; turns < each * 3; turns++) await turn()
      if (each === 5) await change(id, { name: 'A cup', total_cents: 1500 })
      if (each === 9) await change(id, { name: 'A bowl', total_cents: 1800 })
      return syncOne(id, { updatePrices: true })
    })
    for (const result of await Promise.all(syncing)) if (result.status === 'failed') t.match(result, inProgress)
    await syncOne(id, { updatePrices: true })
    // Either of the two concurrent changes may be recorded last.
    const { name, total_cents } = await productOf(id)
    t.match(fake.products.get(id), { name })
    t.same(fake.worthOf(id), [`${total_cents} EUR once`])
    t.match(await syncOne(id, { updatePrices: true }), { status: 'skipped' })
  }
})

t.test('a sync takes over from one that is slower than its lease, with the same key', async (t) => {
  for (const name of [undefined, 'A cup']) {
    const id = await add()
    fake.requests.length = 0
    const gate = gateFirstPut()
    const slow = syncOne(id)
    await gate.reached
    if (name) await change(id, { name })
    harness.advance(requestInFlightMs)
    t.match(await syncOne(id), { status: 'created' })
    gate.open()
    t.match(await slow, { status: 'created' })
    t.equal(new Set(fake.requests.map(({ idempotency_key }) => idempotency_key)).size, 1)
    t.equal(fake.prices.filter(({ product_id }) => product_id === id).length, 1)
    t.match(await syncOne(id), { status: name ? 'updated' : 'skipped' })
    t.match(fake.products.get(id), { name: name ?? 'A mug' })
    t.match(await syncOne(id), { status: 'skipped' })
    harness.advance(0)
  }
})

t.test('a product that is deactivated during a sync is not synced again', async (t) => {
  const id = await add()
  const gate = gateFirstPut()
  const slow = syncOne(id)
  await gate.reached
  await change(id, { is_active: false })
  gate.open()
  t.match(await slow, { status: 'created' })
  t.match(await syncOne(id), { status: 'failed', error: { code: 'product_inactive' } })
})
