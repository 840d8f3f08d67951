import t from 'tap'
import { currencyExponent } from './currency.ts'
import { isCurrency, maxAmountCents, resolveAmounts } from './money.ts'

t.test('missing parts of an amount are derived [10.2-derived]', async (t) => {
  t.same(resolveAmounts({ total_cents: 100 }), {
    subtotal_cents: 100,
    tax_cents: 0,
    discount_cents: 0,
    total_cents: 100,
  })
  t.same(resolveAmounts({ subtotal_cents: 100, tax_cents: 21, discount_cents: 5 }).total_cents, 116)
  t.same(resolveAmounts({ total_cents: 116, tax_cents: 21, discount_cents: 5 }).subtotal_cents, 100)
})

t.test('amounts that do not add up, are negative or exceed the limit are rejected [10.2-amounts]', async (t) => {
  const inconsistent = (message: RegExp) => ({ code: 'amount_inconsistent', message })
  t.throws(() => resolveAmounts({ total_cents: 100, subtotal_cents: 99 }), inconsistent(/^total_cents must equal/))
  t.throws(() => resolveAmounts({ total_cents: 10, tax_cents: 11 }), inconsistent(/^tax_cents is more/))
  t.throws(() => resolveAmounts({ subtotal_cents: 10, discount_cents: 11 }), inconsistent(/^discount_cents is more/))
  t.throws(() => resolveAmounts({ subtotal_cents: maxAmountCents, tax_cents: 1 }), inconsistent(/must be at most/))
  t.throws(() => resolveAmounts({ total_cents: maxAmountCents, discount_cents: 1 }), inconsistent(/must be at most/))
  t.throws(() => resolveAmounts({ tax_cents: 1 }), { code: 'invalid_request' })
})

t.test('isCurrency accepts ISO 4217 currencies in upper case, without metals and test codes', async (t) => {
  for (const code of ['EUR', 'USD', 'JPY', 'KWD', 'BHD', 'CLP']) t.ok(isCurrency(code), code)
  for (const code of ['eur', 'ABC', 'XXX', 'XAU', '', 'EURO']) t.notOk(isCurrency(code), code)
})

t.test('currencyExponent follows ISO 4217', async (t) => {
  const exponents = {
    0: 'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF',
    2: 'EUR USD GBP HUF TWD IDR COP MGA MRU CNY AFN ALL AMD RSD LAK',
    3: 'BHD IQD JOD KWD LYD OMR TND',
    4: 'CLF UYW',
  }
  for (const [exponent, codes] of Object.entries(exponents))
    for (const code of codes.split(' ')) t.equal(currencyExponent(code), Number(exponent), code)
  t.equal(currencyExponent('constructor'), 2)
})
