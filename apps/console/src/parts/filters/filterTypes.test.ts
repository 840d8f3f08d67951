import t from 'tap'
import { type Filter, filterText, flag, isSet } from './filterTypes.ts'

const amount: Filter = { kind: 'amount', label: 'Amount', names: ['amount_from', 'amount_to', 'currency'] }

t.test('the chip of a filter says what it lets through', async (t) => {
  t.equal(filterText(flag('Refunded', 'refunded'), { refunded: 'false' }, 'utc'), 'No')
  t.equal(filterText(amount, { amount_from: '1000', currency: 'EUR' }, 'utc'), 'at least 10.00 EUR')
  t.equal(
    filterText(amount, { amount_from: '1000', amount_to: '1500', currency: 'JPY' }, 'utc'),
    '1000 JPY to 1500 JPY',
  )
  t.equal(filterText(amount, { amount_to: '1500' }, 'utc'), 'at most 1500 in minor units')
})

t.test('a currency alone sets no filter of amounts', async (t) => {
  t.notOk(isSet(amount, { currency: 'EUR' }))
  t.ok(isSet(amount, { amount_to: '1' }))
})
