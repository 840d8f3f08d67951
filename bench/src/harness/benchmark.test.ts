import { test } from 'tap'
import { alternateRounds, quantile, summarizeRounds } from './benchmark.ts'

test('alternateRounds swaps the order in every second round', async (t) => {
  const order: string[] = []
  const side = (name: string) => async () => order.push(name)
  const measured = await alternateRounds(3, side('ours'), side('bare'))
  t.same(order, ['ours', 'bare', 'bare', 'ours', 'ours', 'bare'])
  t.same(measured, [
    { ours: 1, bare: 2 },
    { bare: 3, ours: 4 },
    { ours: 5, bare: 6 },
  ])
})

test('summarizeRounds takes medians, and the median of the ratios', (t) => {
  const rounds = [
    { ours: 10, bare: 100 },
    { ours: 40, bare: 80 },
    { ours: 30, bare: 50 },
  ]
  t.same(summarizeRounds(rounds, 'COPY'), { figure: 30, bound: { name: 'COPY', figure: 80 }, ratio: 0.5 })
  t.end()
})

test('quantile sorts its values', (t) => {
  t.equal(quantile([5, 1, 4, 2, 3], 0.5), 3)
  t.equal(quantile([5, 1, 4, 2, 3], 0.99), 5)
  t.ok(Number.isNaN(quantile([], 0.5)))
  t.end()
})
