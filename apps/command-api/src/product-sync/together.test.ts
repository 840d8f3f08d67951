import t from 'tap'
import { syncAtProviders } from '../testing/syncAtProviders.ts'

const api = await syncAtProviders(t)
const { change, productOf } = api

for (const { fake, syncOne, isOnce } of api.at) {
  t.test(`${fake.id}: sixteen at once, with a change in between`, async (t) => {
    const id = await productOf()
    const syncing = Array.from({ length: 16 }, async (_, n) => {
      if (n === 8) await change(id, { description: 'Other', total_cents: 1000 })
      return syncOne(id, { updatePrices: true })
    })
    const results = await Promise.all(syncing)
    t.same(
      results.filter(({ status }) => status === 'failed'),
      [],
    )
    t.ok(isOnce(id))
    t.same(fake.prices(id, 'active'), [1000])
    t.equal(fake.descriptionOf(id), 'Other')
    t.match(await syncOne(id, { updatePrices: true }), { status: 'skipped' })
  })
}
