import t from 'tap'
import { idBeginning, searchedAmount } from './searched.ts'

t.test('the beginning of an id has at least thirteen characters, in the form of an id', (t) => {
  const id = '018f3c2a-9b1c-7000-8000-0000000000aB'
  t.equal(idBeginning(id.slice(0, 13), '0'), '018f3c2a-9b1c-0000-0000-000000000000')
  t.equal(idBeginning(id.slice(0, 13), 'f'), '018f3c2a-9b1c-ffff-ffff-ffffffffffff')
  t.equal(idBeginning(id.slice(0, 14), '0'), '018f3c2a-9b1c-0000-0000-000000000000')
  t.equal(idBeginning(id.slice(0, 35), 'f'), '018f3c2a-9b1c-7000-8000-0000000000af')
  t.equal(idBeginning(id, 'f'), id.toLowerCase())
  t.equal(idBeginning(id.toUpperCase(), '0'), id.toLowerCase())
  for (const none of [
    id.slice(0, 12),
    `${id}0`,
    '018f3c2a9b1c7000',
    'x18f3c2a-9b1c',
    '018f3c2a_9b1c-',
    '%%%%%%%%-%%%%',
  ])
    t.equal(idBeginning(none, '0'), null, none)
  t.end()
})

t.test('an amount has a currency, or decimals', (t) => {
  const inCurrency: Readonly<Record<string, readonly [number, string]>> = {
    '22 EUR': [2200, 'EUR'],
    'EUR 22': [2200, 'EUR'],
    '22eur': [2200, 'EUR'],
    '22.5 EUR': [2250, 'EUR'],
    '22,00 EUR': [2200, 'EUR'],
    '22.000 EUR': [2200, 'EUR'],
    '22 JPY': [22, 'JPY'],
    '22.00 JPY': [22, 'JPY'],
    '22.005 KWD': [22005, 'KWD'],
    '999999999999 JPY': [999_999_999_999, 'JPY'],
  }
  for (const [text, [cents, code]] of Object.entries(inCurrency))
    t.same(searchedAmount(text), { cents, currencies: [code] }, text)
  for (const text of ['22.00', '22,00', '22.0']) {
    const { cents, currencies = [] } = searchedAmount(text) ?? {}
    t.equal(cents, 2200, text)
    t.same([currencies.includes('EUR'), currencies.includes('JPY'), currencies.includes('KWD')], [true, false, false])
  }
  const { cents, currencies = [] } = searchedAmount('22.000') ?? {}
  t.same([cents, currencies.includes('KWD'), currencies.includes('EUR')], [22000, true, false])
  for (const text of [
    '22',
    'EUR',
    '22 ABC',
    '22 XTS',
    'EUR 22 EUR',
    '22.005 EUR',
    '22.5 JPY',
    '1.2.3',
    '-22 EUR',
    '22 EURO',
  ])
    t.equal(searchedAmount(text), undefined, text)
  t.end()
})
