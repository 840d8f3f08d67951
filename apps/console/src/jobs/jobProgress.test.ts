import t from 'tap'
import { shareOf } from './jobProgress.ts'

t.test('shareOf is the part of the log that was read, also at positions beyond the precision of numbers', async (t) => {
  t.equal(shareOf('0', '200'), 0)
  t.equal(shareOf('50', '200'), 0.25)
  t.equal(shareOf('18014398509481983', '18014398509481984'), 0.9999)
  t.equal(shareOf('300', '200'), 1, 'the log may grow meanwhile')
  t.equal(shareOf('0', '0'), 1)
  for (const [position, head] of [
    [null, '1'],
    ['1', null],
    ['x', '1'],
  ] as const)
    t.equal(shareOf(position, head), null)
})
