// The currencies and amounts that the fake Stripe takes. https://docs.stripe.com/currencies
import { invalid } from './refusal.ts'

const presentment = new Set(
  (
    'aed afn all amd ang aoa ars aud awg azn bam bbd bdt bgn bhd bif bmd bnd bob brl bsd bwp byn bzd cad cdf chf clp cny ' +
    'cop crc cve czk djf dkk dop dzd egp etb eur fjd fkp gbp gel gip gmd gnf gtq gyd hkd hnl htg huf idr ils inr isk jmd ' +
    'jod jpy kes kgs khr kmf krw kwd kyd kzt lak lbp lkr lrd lsl mad mdl mga mkd mmk mnt mop mur mvr mwk mxn myr mzn nad ' +
    'ngn nio nok npr nzd omr pab pen pgk php pkr pln pyg qar ron rsd rub rwf sar sbd scr sek sgd shp sle sos srd std szl ' +
    'thb tjs tnd top try ttd twd tzs uah ugx usd uyu uzs vnd vuv wst xaf xcd xof xpf yer zar zmw'
  ).split(' '),
)
const minimums: Readonly<Record<string, number>> = { aud: 50, cad: 50, chf: 50, eur: 50, gbp: 30, jpy: 50, usd: 50 }
const wholeUnits = new Set(['isk', 'ugx'])
const threeDecimals = new Set(['bhd', 'jod', 'kwd', 'omr', 'tnd'])
/** What the reference of the API says. Other pages name longer ones for some ways to pay. */
const maximum = 99_999_999

/** @param currency lower case @throws StripeRefusal */
export function checkCharge(amount: number, currency: string): void {
  checkCurrency(currency)
  if (amount < 1) throw invalid('parameter_invalid_integer', 'This value must be greater than or equal to 1.', 'amount')
  if (amount < (minimums[currency] ?? 1))
    throw invalid('amount_too_small', 'Amount must convert to at least 50 cents.', 'amount')
  checkAmount(amount, currency, 'amount')
}

/** A price may be nothing. @param currency lower case @throws StripeRefusal */
export function checkPrice(unitAmount: number, currency: string): void {
  checkCurrency(currency)
  if (unitAmount < 0)
    throw invalid('parameter_invalid_integer', 'This value must be greater than or equal to 0.', 'unit_amount')
  checkAmount(unitAmount, currency, 'unit_amount')
}

function checkCurrency(currency: string): void {
  if (!presentment.has(currency))
    throw invalid(undefined, `Invalid currency: ${currency}. Stripe currently supports these currencies: …`, 'currency')
}

function checkAmount(amount: number, currency: string, param: string): void {
  if (amount > maximum && currency !== 'idr')
    throw invalid('amount_too_large', 'Amount must be no more than 999,999.99.', param)
  if ((wholeUnits.has(currency) && amount % 100 !== 0) || (threeDecimals.has(currency) && amount % 10 !== 0))
    throw invalid(undefined, `Invalid amount for ${currency}: ${amount}`, param)
}
