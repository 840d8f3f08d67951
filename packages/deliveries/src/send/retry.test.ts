import t from 'tap'
import { nextPauseMs } from './sender.ts'

t.test('nextPauseMs follows the schedule with pauses of 100 to 110 percent', async (t) => {
  const schedule = [5_000, 10_000, 20_000]
  t.equal(nextPauseMs(schedule, 1, 0), 5_000)
  t.equal(nextPauseMs(schedule, 2, 1), 11_000)
  t.equal(nextPauseMs(schedule, 3, 0.5), 21_000)
  t.equal(nextPauseMs(schedule, 4, 0.5), undefined)
  t.equal(nextPauseMs([], 1, 0.5), undefined)
})

t.test('Retry-After lengthens a pause, and adds no attempt', async (t) => {
  t.equal(nextPauseMs([5_000], 1, 0, 30_000), 30_000)
  t.equal(nextPauseMs([5_000], 1, 0, 3_000), 5_000)
  t.equal(nextPauseMs([5_000], 1, 1, undefined), 5_500)
  t.equal(nextPauseMs([5_000], 2, 1, 30_000), undefined)
})
