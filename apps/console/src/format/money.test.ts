import t from 'tap'
import { decimalOf, formatMoney, parseMoney } from './money.ts'

t.test('decimalOf follows the decimals of the currency', async (t) => {
  t.equal(decimalOf(2200, 'EUR'), '22.00')
  t.equal(decimalOf(5, 'EUR'), '0.05')
  t.equal(decimalOf(2200, 'JPY'), '2200')
  t.equal(decimalOf(2200, 'KWD'), '2.200')
  t.equal(decimalOf(-1, 'EUR'), '-0.01')
  t.equal(decimalOf(0, 'JPY'), '0')
})

t.test('formatMoney shows every decimal of the currency, and large amounts exactly', async (t) => {
  const plain = (text: string) => text.replaceAll(/\s/g, ' ')
  t.equal(plain(formatMoney(2200, 'EUR', 'en')), 'EUR 22.00')
  t.equal(plain(formatMoney(2200, 'JPY', 'en')), 'JPY 2,200')
  t.equal(plain(formatMoney(2200, 'KWD', 'en')), 'KWD 2.200')
  t.equal(plain(formatMoney(500, 'HUF', 'en')), 'HUF 5.00', 'as ISO 4217 says, unlike the browser')
  t.equal(plain(formatMoney(9007199254740991, 'EUR', 'en')), 'EUR 90,071,992,547,409.91')
  t.equal(formatMoney(100, 'not a code', 'en'), '1.00 not a code')
})

t.test('parseMoney reads amounts in major units, and rejects what the currency cannot have', async (t) => {
  t.equal(parseMoney('22', 'EUR'), 2200)
  t.equal(parseMoney(' 22.5 ', 'EUR'), 2250)
  t.equal(parseMoney('22,05', 'EUR'), 2205)
  t.equal(parseMoney('2200', 'JPY'), 2200)
  t.equal(parseMoney('2.2', 'KWD'), 2200)
  for (const wrong of ['', '-1', '1.234', '1 000', '1.000,00', 'ten', '1e3'])
    t.equal(parseMoney(wrong, 'EUR'), null, wrong)
  t.equal(parseMoney('1.5', 'JPY'), null)
  for (const cents of [0, 1, 99, 100, 123456789]) {
    for (const currency of ['EUR', 'JPY', 'KWD']) t.equal(parseMoney(decimalOf(cents, currency), currency), cents)
  }
})
