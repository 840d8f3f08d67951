import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import { syncHarness } from '../testing/syncHarness.ts'

const harness = await syncHarness(t)
const { fake, add, change, syncOne, historyOf, productOf } = harness
t.afterEach(() => {
  fake.before = undefined
  fake.meanwhile = undefined
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

/** Makes the first step with this verb wait. */
function gateFirst(at: 'before' | 'meanwhile', verb: string) {
  const gate = createGate()
  let isFirst = true
  fake[at] = async (call) => {
    if (!call.startsWith(verb) || !isFirst) return
    isFirst = false
    await gate.wait()
  }
  return gate
}

t.test('sixteen concurrent syncs create one product with one price, and one reports created', async (t) => {
  const id = await add()
  fake.before = () => turn()
  const results = await Promise.all(Array.from({ length: 16 }, () => syncOne(id)))
  t.equal(results.filter(({ status }) => status === 'created').length, 1)
  t.same(new Set(results.map(({ provider_price_id }) => provider_price_id)).size, 1)
  t.equal(fake.prices.filter(({ product_id }) => product_id === id).length, 1)
  const history = await historyOf(id)
  t.equal(
    history.filter((type) => type === 'ProductSyncStarted').length,
    history.filter((type) => type === 'ProductSynced').length,
    'every started sync has ended',
  )
  t.match(await syncOne(id), { status: 'skipped' })
})

t.test('sixteen concurrent syncs with changes in between leave the last change at the provider', async (t) => {
  for (let n = 0; n < 5; n++) {
    const id = await add()
    fake.before = () => turn()
    const syncing = Array.from({ length: 16 }, async (_, each) => {
      for (let turns = 0; turns < each * 3; turns++) await turn()
      if (each === 5) await change(id, { name: 'A cup', total_cents: 1500 })
      if (each === 9) await change(id, { name: 'A bowl', total_cents: 1800 })
      return syncOne(id, { updatePrices: true })
    })
    const results = await Promise.all(syncing)
    t.same(
      results.filter(({ status }) => status === 'failed'),
      [],
    )
    // Either of the two concurrent changes may be recorded last.
    const { name, total_cents } = await productOf(id)
    t.match(fake.products.get(id), { name })
    t.same(fake.worthOf(id), [`${total_cents} EUR once`])
    t.match(await syncOne(id, { updatePrices: true }), { status: 'skipped' })
  }
})

t.test('a slow sync of outdated content syncs the current content afterwards', async (t) => {
  const id = await add()
  const gate = gateFirst('before', 'put')
  const slow = syncOne(id)
  await gate.reached
  await change(id, { name: 'A cup' })
  t.match(await syncOne(id), { status: 'created' }, 'does not wait for the slow sync')
  t.match(await syncOne(id, { dryRun: true }), { status: 'updated' }, 'the slow sync counts as unfinished')
  gate.open()
  t.match(await slow, { status: 'updated' })
  t.match(fake.products.get(id), { name: 'A cup' })
  t.match(await syncOne(id), { status: 'skipped' })
})

t.test('a sync that created the product reports created, also after a second round', async (t) => {
  const id = await add()
  const [first, second] = [createGate(), createGate()]
  const gates = [first, second]
  fake.before = async (call) => {
    if (call.startsWith('put')) await gates.shift()?.wait()
  }
  const one = syncOne(id)
  await first.reached
  await change(id, { name: 'A cup' })
  const other = syncOne(id)
  await second.reached
  first.open()
  t.match(await one, { status: 'created' })
  t.match(fake.products.get(id), { name: 'A cup' }, 'the second round synced the change')
  second.open()
  t.match(await other, { status: 'updated' })
  t.match(await syncOne(id), { status: 'skipped' })
})

t.test('a sync of a price reports no price difference when another price is synced concurrently', async (t) => {
  const id = await add()
  await syncOne(id)
  await change(id, { total_cents: 1500 })
  const gate = gateFirst('before', 'put')
  const slow = syncOne(id, { updatePrices: true })
  await gate.reached
  await change(id, { total_cents: 1800 })
  t.match(await syncOne(id, { updatePrices: true }), { status: 'updated', price_differs: undefined })
  gate.open()
  t.match(await slow, { status: 'updated', price_differs: undefined })
  t.same(fake.worthOf(id), ['1800 EUR once'])
})

t.test('a product that is deactivated during a sync is not synced again', async (t) => {
  const id = await add()
  const gate = gateFirst('before', 'put')
  const slow = syncOne(id)
  await gate.reached
  await change(id, { name: 'A cup' })
  await syncOne(id)
  await change(id, { is_active: false })
  gate.open()
  t.match(await slow, { status: 'failed', error: { code: 'product_inactive' } })
  await change(id, { is_active: true })
  t.match(await syncOne(id), { status: 'updated' })
  t.match(fake.products.get(id), { name: 'A cup' })
})

t.test('a sync that is overtaken five times is concurrent_modification', async (t) => {
  const id = await add()
  let names = 0
  let isOther = false
  fake.meanwhile = async (call) => {
    if (isOther || !call.startsWith('put')) return
    isOther = true
    await change(id, { name: `Name ${names++}` })
    await syncOne(id)
    isOther = false
  }
  const contended = { status: 'failed', error: { code: 'concurrent_modification' }, provider_product_id: id }
  const result = await syncOne(id)
  t.match(result, { ...contended, provider_price_id: fake.activeOf(id)[0]?.id }, 'with the recorded ids')
  t.equal(names, 5)
  fake.meanwhile = undefined
  t.match(await syncOne(id), { status: 'updated' })
  t.match(fake.products.get(id), { name: 'Name 4' })
  t.match(await syncOne(id), { status: 'skipped' })
})
