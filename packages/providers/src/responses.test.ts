import t from 'tap'
import { rateLimitIn, respondedAt } from './responses.ts'

const after = (header: string) => rateLimitIn({ 'retry-after': header }).retryAfterMs

t.test('rateLimitIn reads retry-after in seconds and as a date', (t) => {
  t.equal(after('0'), 0)
  t.equal(after('17'), 17_000)
  const inAMinute = Number(after(new Date(Date.now() + 60_000).toUTCString()))
  t.ok(inAMinute > 58_000 && inAMinute <= 60_000, `${inAMinute}`)
  t.equal(after('Wed, 21 Oct 2015 07:28:00 GMT'), 0, 'a time that has passed')
  for (const nothing of ['', '-1', '1.5', 'soon', '99999999999']) t.equal(after(nothing), null, nothing)
  t.equal(rateLimitIn({}).retryAfterMs, null)
  t.end()
})

t.test('respondedAt is the date of the response, or our time without a valid one', (t) => {
  t.equal(respondedAt({ date: 'Thu, 01 Jan 2026 12:00:07 GMT' }), '2026-01-01T12:00:07.000Z')
  const before = new Date().toISOString()
  for (const headers of [{}, { date: 'yesterday' }]) {
    const time = respondedAt(headers)
    t.ok(time >= before && time <= new Date().toISOString(), time)
  }
  t.end()
})
