import t from 'tap'
import type { ReportRow } from '../../api/apiTypes.ts'
import { currencyTotals, differenceOf, netCents } from './reportRows.ts'

const unknown = { ours: null, provider: null, difference: null }
const ours = (cents: number) => ({ ...unknown, ours: cents })
const row = (provider_id: string, currency: string, payments: number, gross: number): ReportRow => ({
  ...{ provider_id, currency, payments },
  opening_cents: unknown,
  gross_cents: ours(gross),
  refunds_cents: ours(-100),
  disputes_cents: ours(-20),
  ...{ fees_cents: unknown, adjustments_cents: unknown, converted_cents: unknown },
  ...{ payouts_cents: unknown, closing_cents: unknown },
})
const rows = [row('paypal', 'USD', 1, 900), row('stripe', 'EUR', 2, 500), row('paypal', 'EUR', 1, 300)]

t.test('amounts are summed by currency over the providers, and currencies are never added', async (t) => {
  t.same(currencyTotals(rows), [
    { currency: 'EUR', payments: 3, sums: { gross_cents: 800, refunds_cents: -200, disputes_cents: -40 } },
    { currency: 'USD', payments: 1, sums: { gross_cents: 900, refunds_cents: -100, disputes_cents: -20 } },
  ])
  t.same(currencyTotals([]), [])
})

t.test('what is left is what came in with what went out', async (t) => {
  t.equal(netCents(row('stripe', 'EUR', 2, 500)), 380)
})

t.test('a difference is unknown while no line has both sides, and then counted by lines', async (t) => {
  const known = row('stripe', 'EUR', 2, 500)
  t.same(differenceOf(known), { status: 'unknown' })
  const compared = { ...known, gross_cents: { ours: 500, provider: 500, difference: 0 } }
  t.same(differenceOf(compared), { status: 'known', lines: 0 })
  t.same(differenceOf({ ...compared, refunds_cents: { ours: -100, provider: -90, difference: 10 } }), {
    status: 'known',
    lines: 1,
  })
})
