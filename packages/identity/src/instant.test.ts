import t from 'tap'
import { readInstant } from './instant.ts'

t.test('a number is seconds as long as it would be long past as milliseconds', async (t) => {
  t.equal(readInstant(99_999_999_999), 99_999_999_999_000)
  t.equal(readInstant(100_000_000_000), 100_000_000_000)
})
