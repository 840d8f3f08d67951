import t from 'tap'
import { entriesUntil, momentsOf, stepOf } from './asOf.ts'

const at = (second: number) => ({ occurred_at: `2026-01-31T12:00:0${second}.000Z` })
// The clock of the third event was behind.
const entries = [at(1), at(3), at(2), at(3), at(5)]
const moments = [1, 3, 5].map((second) => at(second).occurred_at)

t.test('momentsOf has each time once, and none for an event whose clock was behind', async (t) => {
  t.same(momentsOf(entries), moments)
  t.same(momentsOf([]), [])
})

t.test('entriesUntil ends before the first later event', async (t) => {
  t.equal(entriesUntil(entries, undefined).length, 5)
  t.equal(entriesUntil(entries, at(0).occurred_at).length, 0)
  t.equal(entriesUntil(entries, at(1).occurred_at).length, 1)
  t.equal(entriesUntil(entries, at(2).occurred_at).length, 1, 'the second event is later than the third')
  t.equal(entriesUntil(entries, at(3).occurred_at).length, 4, 'the time itself is included')
  t.equal(entriesUntil(entries, '2026-01-31T13:00:03.000+01:00').length, 4, 'offsets count')
  t.equal(entriesUntil(entries, at(9).occurred_at).length, 5)
})

t.test('stepOf finds the moment of a time, and now after the last one', async (t) => {
  t.equal(stepOf(moments, undefined), 3)
  t.equal(stepOf(moments, at(0).occurred_at), -1)
  t.same(
    [1, 2, 3, 4, 5, 9].map((second) => stepOf(moments, at(second).occurred_at)),
    [0, 0, 1, 1, 2, 2],
  )
})
