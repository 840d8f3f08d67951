// Two planted faults, in one system. `npm run campaign -- planted` plants all of them, one after the other.
import t from 'tap'
import { plantsNamed } from './plants.ts'
import { tryPlants } from './tryPlants.ts'

const planted = ['webhooks signed with a wrong secret', "everybody's payments in every list"]

t.test('the judge reports faults that are planted into the product, each by its rule', async (t) => {
  const stack = new AsyncDisposableStack()
  t.teardown(() => stack.disposeAsync())
  const { reports, violations } = await tryPlants(stack, plantsNamed(planted), { seed: 20260101, seconds: 150 })
  const rules = planted.map((name) => reports.get(name)?.rule)
  t.same(rules, ['wrong signature', "another owner's data"], JSON.stringify(violations.slice(0, 20)))
})
