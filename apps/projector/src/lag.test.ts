import { maxLagAgeSeconds } from '@paylog/projections/lag'
import t from 'tap'
import { pauseAfter } from './lag.ts'

t.test('measuring the lag takes at most a tenth of the time, and the recorded lag stays current', (t) => {
  t.equal(pauseAfter(0, true), 5_000)
  t.equal(pauseAfter(700, true), 7_000)
  t.equal(pauseAfter(60_000, true), 10_000)
  t.ok(pauseAfter(Number.POSITIVE_INFINITY, true) < maxLagAgeSeconds * 1_000)
  t.end()
})

t.test('an unknown lag is measured again soon, because the projector is not ready without it', (t) => {
  t.equal(pauseAfter(0, false), 1_000)
  t.equal(pauseAfter(1_500, false), 1_500)
  t.equal(pauseAfter(60_000, false), 10_000)
  t.end()
})
