import { maxLagAgeSeconds } from '@paylog/projections/lag'
import t from 'tap'
import { pauseAfter } from './lag.ts'

t.test('measuring the lag takes at most a tenth of the time, and the recorded lag stays current', (t) => {
  t.equal(pauseAfter(0), 5_000)
  t.equal(pauseAfter(700), 7_000)
  t.equal(pauseAfter(60_000), 10_000)
  t.ok(pauseAfter(Number.POSITIVE_INFINITY) < maxLagAgeSeconds * 1_000)
  t.end()
})
