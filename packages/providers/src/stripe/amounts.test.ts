// Stripe's amounts, with every currency whose decimals differ from ISO 4217.
import t from 'tap'
import { checkStripeAmount, fromStripeAmount, toStripeAmount } from './objects.ts'

t.test('Stripe: amounts are written in Stripe’s units and read back', async (t) => {
  const written: readonly [string, number, number][] = [
    ['USD', 2599, 2599],
    ['EUR', 1, 1],
    ['HUF', 1045, 1045],
    ['TWD', 80045, 80045],
    ['JPY', 500, 500],
    ['KRW', 500, 500],
    ['XPF', 7, 7],
    ['KWD', 5120, 5120],
    ['TND', 10, 10],
    ['ISK', 5, 500],
    ['UGX', 5, 500],
    ['MGA', 500, 5],
    ['IDR', 999_999_999_999, 999_999_999_999],
    ['ISK', 9_999_999_999, 999_999_999_900],
    ['MGA', 999_999_999_900, 9_999_999_999],
  ]
  for (const [currency, ours, stripes] of written) {
    t.equal(toStripeAmount(ours, currency), stripes, `${ours} ${currency}`)
    t.equal(fromStripeAmount(stripes, currency.toLowerCase()), ours, `${ours} ${currency} back`)
    t.doesNotThrow(() => checkStripeAmount(ours, currency))
  }
})

t.test('Stripe: an amount or currency that cannot be expressed is rejected', async (t) => {
  const unsupported: readonly [string, number, string][] = [
    ['KWD', 5124, 'a third decimal'],
    ['MGA', 550, 'a fraction of an ariary'],
    ['IQD', 1000, 'a three-decimal currency that Stripe does not have'],
    ['LYD', 1000, 'another one'],
    ['CLF', 10_000, 'four decimals'],
    ['UYI', 100, 'a unit of account'],
    ['ISK', 10_000_000_000, 'thirteen digits'],
  ]
  for (const [currency, amount_cents, why] of unsupported) {
    t.throws(
      () => checkStripeAmount(amount_cents, currency),
      { code: 'currency_not_supported', details: { provider_id: 'stripe', currency, amount_cents } },
      why,
    )
  }
})

t.test('Stripe: an amount with a fraction of the minor unit is read as null', async (t) => {
  t.equal(fromStripeAmount(1050, 'isk'), null)
  t.equal(fromStripeAmount(199, 'ugx'), null)
})
