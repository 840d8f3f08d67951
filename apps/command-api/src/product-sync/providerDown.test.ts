import t from 'tap'
import { syncAtProviders } from '../testing/syncAtProviders.ts'

const api = await syncAtProviders(t)
const { sync, productsOf } = api

for (const { fake, provider_id, isOnce } of api.at) {
  t.test(`${fake.id}: it goes down half way, and the next sync finishes the rest`, async (t) => {
    const ids = await productsOf(20)
    fake.faults.next(...Array(20).fill(undefined))
    fake.faults.always({ kind: 'status', status: 503, commits: false })
    const { data } = await sync({ provider_id, product_ids: ids })
    fake.faults.always(undefined)
    t.ok(data.summary.created > 0 && data.summary.failed > 0, JSON.stringify(data.summary))
    const again = await sync({ provider_id, product_ids: ids })
    t.same(again.data.summary, { created: data.failed, updated: 0, skipped: data.successful, failed: 0 })
    for (const id of ids) {
      t.ok(isOnce(id))
      t.same(fake.prices(id, 'active'), [900])
    }
    t.same((await sync({ provider_id, product_ids: ids })).data.summary, {
      created: 0,
      updated: 0,
      skipped: 20,
      failed: 0,
    })
  })

  t.test(`${fake.id}: what is turned away is waited for`, async (t) => {
    fake.limit(8)
    const ids = await productsOf(6)
    const { data } = await sync({ provider_id, product_ids: ids })
    t.same(data.summary, { created: 6, updated: 0, skipped: 0, failed: 0 })
    t.ok(fake.turnedAway() > 0, `${fake.turnedAway()} were turned away`)
  })
}
