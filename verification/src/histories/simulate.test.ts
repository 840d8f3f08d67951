import t from 'tap'
import { type Simulation, simulate } from './simulate.ts'
import { plantedFaults } from './testing/planted.ts'

const common = { deadline: Number.POSITIVE_INFINITY, maxOrders: 200, maxFailures: 1, only: '', threads: 1 }
const histories = (seed: number, count: number): Simulation => ({ ...common, kind: 'histories', seed, count })

t.test('the same seeds lead to the same histories, in whatever threads', async (t) => {
  const [first, again, other] = await Promise.all([
    simulate(histories(1, 25)),
    simulate({ ...histories(1, 25), threads: 2 }),
    simulate(histories(26, 25)),
  ])
  t.same(first, again)
  t.not(first.digest, other.digest)
  for (const { histories: done, failures, figures } of [first, other]) {
    t.equal(done, 25)
    t.same(failures, [])
    t.ok(figures.faults.size > 6 && figures.events.size > 10, 'they are not all alike')
  }
})

t.test('a fault planted into the product is found, and its history is shrunk to a few lines', async (t) => {
  const [planted] = plantedFaults
  if (planted === undefined) throw new Error('there is no planted fault')
  const { failures } = await simulate(histories(planted.seed, 20), { faults: [planted] })
  t.match(failures, [{ rule: planted.rule }])
  const story = failures[0]?.story ?? ''
  t.ok(story.split('\n').length <= 15, story)
})

t.test('two refunds of one payment are run in every order of their steps', async (t) => {
  const only = 'stripe, paid: refund of all, refund of most'
  const { races, orders, cutRaces, failures } = await simulate({ ...common, kind: 'races', seed: 1, count: 2, only })
  t.match({ races, cutRaces, failures }, { races: 1, cutRaces: 0, failures: [] })
  t.ok(orders > 5, `${orders} orders`)
})
