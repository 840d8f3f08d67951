import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import { syncHarness } from '../testing/syncHarness.ts'

const harness = await syncHarness(t)
const { stage, add, change, syncOne, historyOf, productOf } = harness
t.afterEach(() => {
  stage.before = undefined
  stage.meanwhile = undefined
})

/** A gate that a step waits at. */
function gate() {
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

/** The first step of this kind waits. */
function holdFirst(at: 'before' | 'meanwhile', verb: string) {
  const held = gate()
  let isFirst = true
  stage[at] = async (call) => {
    if (!call.startsWith(verb) || !isFirst) return
    isFirst = false
    await held.wait()
  }
  return held
}

t.test('sixteen at once make one product with one price, and one of them has created it', async (t) => {
  const id = await add()
  stage.before = () => turn()
  const results = await Promise.all(Array.from({ length: 16 }, () => syncOne(id)))
  t.equal(results.filter(({ status }) => status === 'created').length, 1)
  t.same(new Set(results.map(({ provider_price_id }) => provider_price_id)).size, 1)
  t.equal(stage.prices.filter(({ product_id }) => product_id === id).length, 1)
  const history = await historyOf(id)
  t.equal(
    history.filter((type) => type === 'ProductSyncStarted').length,
    history.filter((type) => type === 'ProductSynced').length,
    'each that began has ended',
  )
  t.match(await syncOne(id), { status: 'skipped' })
})

t.test('sixteen at once with changes in between: the last change is there', async (t) => {
  for (let n = 0; n < 5; n++) {
    const id = await add()
    stage.before = () => turn()
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
    // Of two changes at the same time either may be recorded last.
    const { name, total_cents } = await productOf(id)
    t.match(stage.products.get(id), { name })
    t.same(
      stage.activeOf(id).map(({ worth }) => worth),
      [`${total_cents} EUR once`],
    )
    t.match(await syncOne(id, { updatePrices: true }), { status: 'skipped' })
  }
})

t.test('whoever is late with a former content puts the present one after it', async (t) => {
  const id = await add()
  const held = holdFirst('before', 'put')
  const slow = syncOne(id)
  await held.reached
  await change(id, { name: 'A cup' })
  t.match(await syncOne(id), { status: 'created' }, 'the other one is not waited for')
  t.match(await syncOne(id, { dryRun: true }), { status: 'updated' }, 'and it is not taken for done')
  held.open()
  t.match(await slow, { status: 'updated' })
  t.match(stage.products.get(id), { name: 'A cup' })
  t.match(await syncOne(id), { status: 'skipped' })
})

t.test('who has created it has, however often it is gone over', async (t) => {
  const id = await add()
  const [first, second] = [gate(), gate()]
  const gates = [first, second]
  stage.before = async (call) => {
    if (call.startsWith('put')) await gates.shift()?.wait()
  }
  const one = syncOne(id)
  await first.reached
  await change(id, { name: 'A cup' })
  const other = syncOne(id)
  await second.reached
  first.open()
  t.match(await one, { status: 'created' })
  t.match(stage.products.get(id), { name: 'A cup' }, 'gone over at once')
  second.open()
  t.match(await other, { status: 'updated' })
  t.match(await syncOne(id), { status: 'skipped' })
})

t.test('a price that was put is not told of as another one, whoever puts another at the same time', async (t) => {
  const id = await add()
  await syncOne(id)
  await change(id, { total_cents: 1500 })
  const held = holdFirst('before', 'put')
  const slow = syncOne(id, { updatePrices: true })
  await held.reached
  await change(id, { total_cents: 1800 })
  t.match(await syncOne(id, { updatePrices: true }), { status: 'updated', price_differs: undefined })
  held.open()
  t.match(await slow, { status: 'updated', price_differs: undefined })
  t.same(
    stage.activeOf(id).map(({ worth }) => worth),
    ['1800 EUR once'],
  )
})

t.test('a change while a product is under way is for the next sync', async (t) => {
  const id = await add()
  const held = holdFirst('meanwhile', 'put')
  const syncing = syncOne(id)
  await held.reached
  await change(id, { name: 'A cup' })
  held.open()
  t.match(await syncing, { status: 'created' })
  t.match(stage.products.get(id), { name: 'A mug' })
  t.match(await syncOne(id), { status: 'updated' })
  t.match(stage.products.get(id), { name: 'A cup' })
})

t.test('a product that is taken out of sale while others were at it is left as it is', async (t) => {
  const id = await add()
  const held = holdFirst('before', 'put')
  const slow = syncOne(id)
  await held.reached
  await change(id, { name: 'A cup' })
  await syncOne(id)
  await change(id, { is_active: false })
  held.open()
  t.match(await slow, { status: 'failed', error: { code: 'product_inactive' } })
  await change(id, { is_active: true })
  t.match(await syncOne(id), { status: 'updated' })
  t.match(stage.products.get(id), { name: 'A cup' })
})

t.test('whoever is overtaken again and again gives up, and says so', async (t) => {
  const id = await add()
  let names = 0
  let isOther = false
  stage.meanwhile = async (call) => {
    if (isOther || !call.startsWith('put')) return
    isOther = true
    await change(id, { name: `Name ${names++}` })
    await syncOne(id)
    isOther = false
  }
  const contended = { status: 'failed', error: { code: 'concurrent_modification' }, provider_product_id: id }
  const told = await syncOne(id)
  t.match(told, { ...contended, provider_price_id: stage.activeOf(id)[0]?.id }, 'with the ids that are on record')
  t.equal(names, 5)
  stage.meanwhile = undefined
  t.match(await syncOne(id), { status: 'updated' })
  t.match(stage.products.get(id), { name: 'Name 4' })
  t.match(await syncOne(id), { status: 'skipped' })
})
