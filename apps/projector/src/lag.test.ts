import { maxLagAgeSeconds } from '@paylog/projections/lag'
import t from 'tap'
import { pauseAfter } from './lag.ts'

t.test('measuring takes a tenth of all time at most, and what was told never gets old of it', (t) => {
  t.equal(pauseAfter(0), 2_000)
  t.equal(pauseAfter(500), 5_000)
  t.equal(pauseAfter(60_000), 10_000)
  t.ok(pauseAfter(Number.POSITIVE_INFINITY) < maxLagAgeSeconds * 1_000)
  t.end()
})
