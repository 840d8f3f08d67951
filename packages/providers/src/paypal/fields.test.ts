// PayPal's amounts and currencies.
import t from 'tap'
import { checkAmount, toCents, toMoney } from './fields.ts'

t.test('PayPal: minor units are written as decimals of the currency and read back', (t) => {
  const rows = [
    [1999, 'EUR', '19.99'],
    [5, 'USD', '0.05'],
    [70, 'GBP', '0.70'],
    [100, 'CHF', '1.00'],
    [999_999_999_999, 'USD', '9999999999.99'],
    [999_999_999_999, 'JPY', '999999999999'],
    [1, 'JPY', '1'],
    [150_000, 'HUF', '1500'],
    [100, 'TWD', '1'],
  ] as const
  for (const [cents, currency, value] of rows) {
    checkAmount(cents, currency)
    t.same(toMoney(cents, currency), { currency_code: currency, value })
    t.equal(toCents({ currency_code: currency, value }), cents)
  }
  t.end()
})

t.test('PayPal: an amount that cannot be expressed is rejected, not rounded [10.2-paypal-amounts]', (t) => {
  for (const currency of ['HUF', 'TWD'])
    for (const cents of [1, 10, 99, 150_050]) {
      t.throws(() => checkAmount(cents, currency), { name: 'DomainError', code: 'currency_not_supported' })
      t.throws(() => toMoney(cents, currency), { name: 'ProviderError', kind: 'currency' })
    }
  t.end()
})

t.test('PayPal: unsupported currencies are rejected, including those with three decimals', (t) => {
  for (const currency of ['KWD', 'BHD', 'TND', 'KRW', 'CLP', 'RUB', 'INR', 'TRY', 'UYW']) {
    t.throws(() => checkAmount(1000, currency), { name: 'DomainError', code: 'currency_not_supported' })
    t.throws(() => toMoney(1000, currency), { name: 'ProviderError', kind: 'currency' })
  }
  t.end()
})

t.test('PayPal: amounts are read in any format and in unsupported currencies too', (t) => {
  const cents = (value: string, currency_code = 'EUR') => toCents({ currency_code, value })
  t.equal(cents('10'), 1000)
  t.equal(cents('10.5'), 1050)
  t.equal(cents('10.500'), 1050, 'extra zeros')
  t.equal(cents('0.10'), 10)
  t.equal(cents('90071992547409.91'), 9_007_199_254_740_991)
  t.equal(cents('1000.00', 'JPY'), 1000)
  t.equal(cents('1500.00', 'HUF'), 150_000)
  t.equal(cents('12.345', 'KWD'), 12_345)
  t.end()
})

t.test('PayPal: an invalid, too fine or too large amount is read as null', (t) => {
  for (const value of ['', '.5', '5.', '-2.51', '1e3', '1,000.00', ' 1', '0x10', '1.005', '90071992547409.92', '١'])
    t.equal(toCents({ currency_code: 'EUR', value }), null, value)
  t.equal(toCents({ currency_code: 'JPY', value: '1000.5' }), null)
  t.end()
})
