import t from 'tap'
import { syncAtProviders } from '../testing/syncAtProviders.ts'

const api = await syncAtProviders(t)
const { productOf } = api

const lost = [
  { kind: 'drop', commits: false },
  { kind: 'drop', commits: true },
  { kind: 'hang', commits: false },
  { kind: 'hang', commits: true },
  { kind: 'status', status: 500, commits: true },
  { kind: 'garbage', commits: true },
] as const

for (const { fake, syncOne, isOnce } of api.at) {
  t.test(`${fake.id}: whatever becomes of a call, the next sync finishes and doubles nothing`, async (t) => {
    for (const fault of lost)
      for (let step = 0; step < fake.writes; step++) {
        const id = await productOf()
        fake.faults.next(...Array(step).fill(undefined), fault)
        const first = await syncOne(id)
        const what = `${JSON.stringify(fault)} at call ${step}: ${first.status}`
        const second = await syncOne(id)
        t.match(second.status, first.status === 'failed' ? 'created' : 'skipped', what)
        t.ok(isOnce(id), what)
        t.same(fake.prices(id, 'active'), [900], what)
        t.match(await syncOne(id), { status: 'skipped' }, what)
      }
  })
}
