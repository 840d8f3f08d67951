// Authorize.Net's amounts, converted without floating point.
import t from 'tap'
import { parseExactJson } from '../responses.ts'
import { amountOf, centsOf, checkAmount, toDecimal } from './fields.ts'

t.test('Authorize.Net: cents are written as a decimal with two places', async (t) => {
  const decimals = { 1: '0.01', 10: '0.10', 725: '7.25', 100: '1.00', 1999: '19.99', 999999999999: '9999999999.99' }
  for (const [cents, decimal] of Object.entries(decimals)) {
    t.equal(toDecimal(Number(cents)), decimal)
    t.equal(centsOf(decimal), Number(cents), 'read back')
  }
})

t.test('Authorize.Net: decimals are read as exact cents, with any number of zeros', async (t) => {
  const cents = {
    '7.25': 725,
    '0.0': 0,
    '19.990': 1999,
    '7': 700,
    '7.5': 750,
    '1018.88': 101_888,
    '0.29': 29,
    '1.005000': null,
    '19.991': null,
    '0.07': 7,
    '4.35': 435,
    '1.1': 110,
  }
  for (const [decimal, expected] of Object.entries(cents)) t.equal(centsOf(decimal), expected, decimal)
  for (const none of ['', '-1.00', '1e3', '1.', '.5', '1,00', 'NaN']) t.equal(centsOf(none), null, none)
})

t.test('Authorize.Net: a transaction amount with a fraction of a cent is unreadable', async (t) => {
  const transaction = {
    transId: '1',
    transactionType: 'authCaptureTransaction',
    transactionStatus: 'settledSuccessfully',
    responseCode: '1',
    authAmount: '25.99',
    settleAmount: '25.995',
  }
  t.equal(amountOf(transaction, 'authAmount'), 2599)
  t.throws(() => amountOf(transaction, 'settleAmount'), { kind: 'unknown', code: 'unreadable_answer' })
})

t.test('parseExactJson keeps numbers as their text', async (t) => {
  t.strictSame(parseExactJson('{"a":7.25,"b":[0.0,19.990,60022194830],"c":"7.25","d":true,"e":null}'), {
    a: '7.25',
    b: ['0.0', '19.990', '60022194830'],
    c: '7.25',
    d: true,
    e: null,
  })
  t.equal(parseExactJson('{"half":'), undefined)
})

t.test('Authorize.Net: checkAmount accepts only the gateway’s currencies', async (t) => {
  for (const currency of ['USD', 'CAD', 'GBP', 'EUR', 'AUD', 'NZD']) checkAmount(100, currency)
  for (const currency of ['JPY', 'KWD', 'BRL', 'usd'])
    t.throws(() => checkAmount(100, currency), { code: 'currency_not_supported' }, currency)
})
