import t from 'tap'
import type { Statistics } from '../../api/apiTypes.ts'
import { groupsOf, intervalsOf, rangeOf, successRate, totalsOf } from './statistics.ts'

const dayMs = 86_400_000
const row = (day: number, provider_id: string, currency: string, succeeded: number, failed: number): Statistics => ({
  from: new Date(day * dayMs).toISOString(),
  to: new Date((day + 1) * dayMs).toISOString(),
  provider_id,
  currency,
  payments: {
    succeeded: { count: succeeded, amount_cents: succeeded * 100 },
    failed: { count: failed, amount_cents: failed * 100 },
    pending: { count: 1, amount_cents: 100 },
  },
  received_cents: succeeded * 100,
  refunds: { count: 1, amount_cents: 50 },
  disputes: { count: 0, amount_cents: 0 },
})
const rows = [row(1, 'stripe', 'EUR', 3, 1), row(1, 'paypal', 'EUR', 1, 0), row(3, 'stripe', 'EUR', 0, 2)]

t.test('payments that are not decided do not count for the success rate', async (t) => {
  const totals = totalsOf(rows)
  t.match(totals, { payments: 10, succeeded: 4, decided: 7, refunds: 3 })
  t.equal(successRate(totals), 57.1)
  t.equal(successRate(totalsOf([])), null)
})

t.test('groups are by provider and currency, the largest first', async (t) => {
  t.same(
    groupsOf(rows).map(({ provider, currency, totals }) => [provider, currency, totals.payments]),
    [
      ['stripe', 'EUR', 8],
      ['paypal', 'EUR', 2],
    ],
  )
})

t.test('intervals without payments are part of the series', async (t) => {
  const intervals = intervalsOf(rows, { from: dayMs * 1.5, to: 4 * dayMs, stepMs: dayMs })
  t.same(
    intervals.map(({ from, totals }) => [from.slice(0, 10), totals.payments]),
    [
      ['1970-01-02', 7],
      ['1970-01-03', 0],
      ['1970-01-04', 3],
    ],
  )
})

t.test('a chart shows the hours of a single day and the days of more, up to the present', async (t) => {
  const now = Date.parse('2026-11-30T12:20:00Z')
  const shown = (from: string, to: string) => {
    const range = rangeOf({ from, to }, 'utc', now)
    return [range.from, range.to]
      .map((ms) => new Date(ms).toISOString().slice(0, 16))
      .concat(`${range.stepMs / 3_600_000} h`)
  }
  t.same(shown('2026-11-30', '2026-12-01'), ['2026-11-30T00:00', '2026-11-30T13:00', '1 h'])
  t.same(shown('2026-11-01', '2026-12-01'), ['2026-11-01T00:00', '2026-12-01T00:00', '24 h'])
  t.same(shown('2026-11-20', '2026-12-31'), ['2026-11-20T00:00', '2026-12-01T00:00', '24 h'])
})
