import { BillingInterval, type ProductContent, type ProductEvent, ProductType } from '@paylog/domain/products/events'
import { productFold, productResource } from '@paylog/domain/products/product'
import fc from 'fast-check'
import t from 'tap'
import { foldBatch } from '../apply/batch.ts'
import { readItem, readPage } from '../queries/lists.ts'
import { allProductsQuery } from '../testing/catalogFixture.ts'
import { addProductTo, createLogFixture } from '../testing/logFixture.ts'
import { readModelDatabase, reapply } from '../testing/projectionHarness.ts'
import { products } from './projection.ts'
import { productList } from './queries.ts'

const time = fc
  .date({ min: new Date('2026-01-01'), max: new Date('2027-01-01'), noInvalidDate: true })
  .map((date) => date.toISOString())
const characters = fc.string({ unit: 'binary', maxLength: 40 }).filter((value) => !value.includes('\0'))
const long = fc.constantFrom('x'.repeat(2000), '\u{1F600}'.repeat(2000), '"\\\n\t\u2028\u0130'.repeat(300))
const text = fc.option(fc.oneof({ weight: 9, arbitrary: characters }, long))
const cents = fc.integer({ min: 0, max: 10 ** 12 })

const content = {
  name: characters.map((name) => `n${name}`),
  description: text,
  product_type: fc.constantFrom(...ProductType.enum),
  is_recurring: fc.boolean(),
  subtotal_cents: cents,
  tax_cents: cents,
  discount_cents: cents,
  total_cents: cents,
  currency: fc.constantFrom('EUR', 'JPY'),
  billing_interval: fc.option(fc.constantFrom(...BillingInterval.enum)),
  trial_days: fc.option(fc.nat(730)),
  category_id: fc.option(characters),
}
/** Without rules: every recorded event becomes a row. */
const step = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('ProductChanged' as const),
      changes: fc.record(content, { requiredKeys: [] }),
    }),
  },
  fc.record({ kind: fc.constantFrom('ProductDeactivated' as const, 'ProductReactivated' as const) }),
  fc.record({
    kind: fc.constantFrom('ProductSyncStarted' as const, 'ProductSynced' as const, 'ProductSyncFailed' as const),
  }),
)
type Step = typeof step extends fc.Arbitrary<infer Each> ? Each : never
type Facts = { readonly product_id: string; readonly occurred_at: string }

function eventOf(step: Step, facts: Facts): ProductEvent {
  const sync = { ...facts, provider_id: 'stripe', sync: 1 }
  const hashes = { content_hash: 'c', price_hash: 'p' }
  switch (step.kind) {
    case 'ProductChanged':
      return { type: step.kind, data: { ...facts, changes: step.changes } }
    case 'ProductDeactivated':
    case 'ProductReactivated':
      return { type: step.kind, data: facts }
    case 'ProductSyncStarted':
      return { type: step.kind, data: { ...sync, ...hashes, price: 'put' } }
    case 'ProductSynced': {
      const result = { provider_product_id: 'prod_1', provider_price_id: null, mapped_locally: false, kept_fields: [] }
      return { type: step.kind, data: { ...sync, ...hashes, ...result } }
    }
    case 'ProductSyncFailed':
      return { type: step.kind, data: { ...sync, code: 'x', message: 'y' } }
  }
}

const history = fc.record({
  added: fc.array(fc.record({ ...content, is_active: fc.boolean() }), { minLength: 1, maxLength: 4 }),
  steps: fc.array(fc.record({ product: fc.nat(3), occurred_at: time, step }), { maxLength: 30, size: 'max' }),
  sizes: fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 1, maxLength: 12 }),
  repeated: fc.boolean(),
})

t.test('products: the read model equals the fold of the log for all batch sizes', async (t) => {
  const { pool } = await readModelDatabase(t)
  await fc.assert(
    fc.asyncProperty(history, async ({ added, steps, sizes, repeated }) => {
      await pool.query('delete from read_models.products_v1')
      const log = createLogFixture()
      const ids = added.map((given) => addProductTo(log, given))
      for (const { product, occurred_at, step } of steps) {
        const product_id = ids[product % ids.length] ?? ''
        log.record(productFold, product_id, () => [eventOf(step, { product_id, occurred_at })])
      }
      await reapply(pool, products, log, sizes)
      if (repeated) await reapply(pool, products, log, sizes.toReversed())
      const { items, total } = await readPage(pool, productList, allProductsQuery)
      t.equal(total, ids.length)
      for (const id of ids) {
        const state = log.stateOf(productFold, id)
        const expected = state.status === 'kept' && productResource(state)
        const found = await readItem(pool, productList, { id })
        t.same(found?.item, expected)
        t.equal(found?.revision, log.events.findLast((event) => event.id === id)?.revision)
        t.same(
          items.find((item) => item.id === id),
          expected,
        )
      }
      return t.passing()
    }),
    { seed: 7, numRuns: 30, endOnFailure: true },
  )
})

t.test('the searched text follows each change of name and description', async (t) => {
  const { pool } = await readModelDatabase(t)
  const log = createLogFixture()
  const id = addProductTo(log, { name: 'RED Chair', description: 'Made of OAK' })
  const change = (changes: Partial<ProductContent>) => {
    const data = { product_id: id, occurred_at: '2026-03-02T10:00:00.000Z', changes }
    log.record(productFold, id, () => [{ type: 'ProductChanged', data }])
  }
  const finds = async (...searches: string[]) => {
    await reapply(pool, products, log)
    const found = searches.map(
      async (search) => (await readPage(pool, productList, { ...allProductsQuery, search })).total,
    )
    return (await Promise.all(found)).join('')
  }
  t.equal(await finds('red', 'oak', 'blue', 'pine'), '1100')
  change({ name: 'BLUE Chair' })
  t.equal(await finds('red', 'oak', 'blue', 'pine'), '0110')
  change({ description: 'Made of PINE' })
  t.equal(await finds('red', 'oak', 'blue', 'pine'), '0011')
  change({ description: null, total_cents: 1 })
  t.equal(await finds('red', 'oak', 'blue', 'pine'), '0010')
  change({ description: '' })
  t.equal(await finds('red', 'oak', 'blue', 'chairm'), '0010')
})

t.test('a sync raises the revision and changes nothing else, for all batch sizes', async (t) => {
  const { pool } = await readModelDatabase(t)
  const log = createLogFixture()
  const id = addProductTo(log, { description: 'a\0b' })
  await reapply(pool, products, log)
  const rowOf = async () => {
    const { rows } = await pool.query('select * from read_models.products_v1 where id = $1', [id])
    return rows[0]
  }
  const before = await rowOf()
  t.equal(before.description, 'a\ufffdb', 'a recorded NUL is replaced')
  const facts = { product_id: id, occurred_at: '2026-03-09T10:00:00.000Z' }
  log.record(productFold, id, () => [eventOf({ kind: 'ProductSynced' }, facts)])
  t.same(foldBatch(products, log.events.slice(1)).patches, [{ id, revision: 1n, values: {} }])
  await reapply(pool, products, log, [1])
  t.same(await rowOf(), { ...before, revision: 1n })
  for (const kind of ['ProductDeactivated', 'ProductSyncStarted'] as const)
    log.record(productFold, id, () => [eventOf({ kind }, facts)])
  await reapply(pool, products, log)
  t.same(await rowOf(), { ...before, revision: 3n, is_active: false, updated_at: new Date(facts.occurred_at) })
})

t.test('requests with an Idempotency-Key and other categories change no product', async (t) => {
  for (const stream of ['idempotentRequest-1', 'productLine-1'])
    t.notOk(products.streamPrefixes.some((prefix) => stream.startsWith(prefix)))
})
