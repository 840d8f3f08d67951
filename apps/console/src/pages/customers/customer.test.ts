import t from 'tap'
import type { ListedPayment } from '../../api/apiTypes.ts'
import { customersOf, sumsOf } from './customer.ts'

const paid = (currency: string, amount_received_cents: number, amount_refunded_cents = 0) => ({
  currency,
  amount_received_cents,
  amount_refunded_cents,
})

t.test('the sums of a customer are apart by currency, without disputes that were won', async (t) => {
  const disputes = [
    { currency: 'EUR', amount_cents: 500, status: 'open' },
    { currency: 'EUR', amount_cents: 300, status: 'lost' },
    { currency: 'EUR', amount_cents: 900, status: 'won' },
    { currency: 'USD', amount_cents: null, status: 'open' },
  ]
  t.same(sumsOf([paid('JPY', 1_800), paid('EUR', 2_000, 500), paid('EUR', 0)], disputes), [
    { currency: 'EUR', payments: 2, received: 2_000, refunded: 500, disputed: 800 },
    { currency: 'JPY', payments: 1, received: 1_800, refunded: 0, disputed: 0 },
    { currency: 'USD', payments: 0, received: 0, refunded: 0, disputed: 0 },
  ])
  t.same(sumsOf([], []), [])
})

t.test('payments make one customer for each user and each guest', async (t) => {
  const of = (id: string, user_id: string | null, guest_email: string | null) =>
    ({ id, user_id, guest_email }) as ListedPayment
  const found = customersOf([
    of('1', null, 'Ann@example.com'),
    of('2', null, 'ann@example.com'),
    of('3', 'u-1', 'ann@example.com'),
    of('4', null, null),
    of('5', 'u-1', null),
  ])
  t.match(found, [
    { id: 'Ann@example.com', userId: null, guestEmail: 'Ann@example.com', last: { id: '1' } },
    { id: 'u-1', userId: 'u-1', guestEmail: null, last: { id: '3' } },
  ])
  t.equal(found.length, 2)
})
