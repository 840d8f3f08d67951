import t from 'tap'
import { actorText, summaryOf, titleOf } from './eventText.ts'

const plain = (text: string) => text.replaceAll(/\s/g, ' ')

t.test('an event without a title of its own is named by its type', async (t) => {
  t.equal(titleOf('PaymentInitiated'), 'Payment started')
  t.equal(titleOf('SomethingNewHappened'), 'Something new happened')
})

t.test('summaryOf shows amounts in the currency of the payment or of the report', async (t) => {
  t.match(plain(summaryOf('PaymentInitiated', { total_cents: 2200, currency: 'JPY' })), /2.200/)
  t.match(
    plain(summaryOf('RefundRequested', { refund_cents: 500, currency: 'EUR', reason: 'duplicate', note: null })),
    /5.00.*, reason duplicate$/,
  )
  const reported = { reported_amount_cents: 1000, reported_currency: 'KWD', currency: 'EUR' }
  t.match(plain(summaryOf('PaymentAmountMismatch', reported)), /^reported KWD 1.000|reported 1.000 KWD/)
  t.equal(summaryOf('PaymentSucceeded', { currency: 'EUR' }), '')
})

t.test('actorText names users, providers and processes', async (t) => {
  t.same(['session:u-1', 'provider:stripe', 'operator', 'guest', 'worker', 'anonymous'].map(actorText), [
    'user u-1',
    'provider stripe',
    'an operator',
    'a guest',
    'the worker',
    'somebody without a session',
  ])
})
