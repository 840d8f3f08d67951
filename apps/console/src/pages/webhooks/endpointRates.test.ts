import t from 'tap'
import { successRate } from './endpointRates.ts'

t.test('a success rate is 100 % only when every delivery succeeded', async (t) => {
  const rateOf = (succeeded: number, deliveries: number) => successRate({ succeeded, deliveries })
  t.equal(rateOf(1_000, 1_000), '100 %')
  t.equal(rateOf(99_999, 100_000), '99.9 %')
  t.equal(rateOf(998, 1_000), '99.8 %')
  t.equal(rateOf(1, 3), '33.3 %')
  t.equal(rateOf(1, 100_000), '0.1 %')
  t.equal(rateOf(0, 10), '0 %')
  t.equal(rateOf(0, 0), '–')
})
