import type { ProductContent } from '@paylog/domain/products/events'
import { productFold } from '@paylog/domain/products/product'
import { readPage } from '@paylog/queries/lists/lists'
import { productList } from '@paylog/queries/products/queries'
import t from 'tap'
import { foldBatch } from '../apply/batch.ts'
import { allProductsQuery } from '../testing/catalogFixture.ts'
import { addProductTo, createLogFixture } from '../testing/logFixture.ts'
import { readModelDatabase, reapply } from '../testing/projectionHarness.ts'
import { products } from './projection.ts'

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
  const sync = { ...facts, provider_id: 'stripe', sync: 1, content_hash: 'c', price_hash: 'p' }
  const result = { provider_product_id: 'prod_1', provider_price_id: null, mapped_locally: false, kept_fields: [] }
  log.record(productFold, id, () => [{ type: 'ProductSynced', data: { ...sync, ...result } }])
  t.same(foldBatch(products, log.events.slice(1)).patches, [{ id, revision: 1n, values: {} }])
  await reapply(pool, products, log, [1])
  t.same(await rowOf(), { ...before, revision: 1n })
  log.record(productFold, id, () => [
    { type: 'ProductDeactivated', data: facts },
    { type: 'ProductSyncStarted', data: { ...sync, price: 'put' } },
  ])
  await reapply(pool, products, log)
  t.same(await rowOf(), { ...before, revision: 3n, is_active: false, updated_at: new Date(facts.occurred_at) })
})
