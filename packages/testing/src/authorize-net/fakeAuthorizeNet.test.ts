// The fake Authorize.Net is as strict as the gateway where other tests depend on it.
import t from 'tap'
import { type FakeAuthorizeNet, startFakeAuthorizeNet } from './fakeAuthorizeNet.ts'

const merchantAuthentication = { name: 'fake-login', transactionKey: 'fake-key' }

/** @returns the code of the response, or the reason code of a transaction */
async function call(fake: FakeAuthorizeNet, method: string, members: object): Promise<string> {
  const response = await fetch(`${fake.origin}/xml/v1/request.api`, {
    method: 'POST',
    body: JSON.stringify({ [`${method}Request`]: members }),
  })
  const { transactionResponse, messages } = JSON.parse((await response.text()).replace(/^\ufeff/, ''))
  const [reason] = transactionResponse?.errors ?? transactionResponse?.messages ?? messages.message
  return reason.errorCode ?? reason.code
}

t.test('fake Authorize.Net: members that are out of order, too long or unknown are errors', async (t) => {
  const fake = await startFakeAuthorizeNet(t)
  const [transactionType, amount, order] = ['authCaptureTransaction', '7.20', { invoiceNumber: '7e6f8a9b0c1d2e3f4a5b' }]
  const transactionRequest = { transactionType, amount, order }
  t.equal(await call(fake, 'getHostedPaymentPage', { merchantAuthentication, transactionRequest }), 'I00001')
  for (const members of [
    { transactionRequest, merchantAuthentication },
    { merchantAuthentication, transactionRequest, refId: 'after' },
    { merchantAuthentication, transactionRequest: { transactionType, order, amount } },
    { merchantAuthentication, transactionRequest: { ...transactionRequest, color: 'red' } },
    { merchantAuthentication, refId: '7e6f8a9b0c1d2e3f4a5b6', transactionRequest },
    { merchantAuthentication, transactionRequest: { transactionType, amount: '7.2', order } },
  ])
    t.equal(await call(fake, 'getHostedPaymentPage', members), 'E00003', JSON.stringify(members))
  const stranger = { ...merchantAuthentication, transactionKey: 'wrong' }
  t.equal(await call(fake, 'getHostedPaymentPage', { merchantAuthentication: stranger, transactionRequest }), 'E00007')
})

t.test('fake Authorize.Net: the same card, amount and invoice within the window is a duplicate', async (t) => {
  const fake = await startFakeAuthorizeNet(t, { allowDouble: true })
  const source = { invoiceNumber: 'a', amount_cents: 100 }
  fake.pay(source)
  t.match(fake.pay(source), { responseCode: 3, responseReasonCode: 11, transId: '0' })
  t.match(fake.pay(source, { card: 'card-2' }), { responseCode: 1 })
  fake.advance(121_000)
  t.match(fake.pay(source), { responseCode: 1 })
})

t.test('fake Authorize.Net: only what is settled is refunded, and no more than was taken', async (t) => {
  const fake = await startFakeAuthorizeNet(t)
  const submit = (transactionRequest: object) =>
    call(fake, 'createTransaction', { merchantAuthentication, transactionRequest })
  const payment = { creditCard: { cardNumber: '1111', expirationDate: 'XXXX' } }
  const refund = (refTransId: string, amount: string) =>
    submit({ transactionType: 'refundTransaction', amount, payment, refTransId })
  const capture = (refTransId: string, amount: string) =>
    submit({ transactionType: 'priorAuthCaptureTransaction', amount, refTransId })
  const { transId } = fake.pay({ invoiceNumber: 'a', amount_cents: 2000 })
  t.equal(await refund(transId, '5.00'), '54', 'not settled')
  fake.settle()
  t.equal(await refund(transId, '5.00'), '1')
  t.equal(await refund(transId, '5.00'), '11', 'a duplicate')
  t.equal(await refund(transId, '15.01'), '55')
  t.equal(await submit({ transactionType: 'voidTransaction', refTransId: transId }), '16', 'settled')
  t.same(fake.moneyOf('a'), { received_cents: 2000, refunded_cents: 500 })
  const { transId: authorized } = fake.pay({ invoiceNumber: 'b', amount_cents: 2000 }, { authOnly: true })
  t.equal(await capture(authorized, '20.01'), '47')
  t.equal(await capture(authorized, '12.00'), '1')
  t.equal(await capture(authorized, '8.00'), '311')
  t.same(fake.moneyOf('b'), { received_cents: 1200, refunded_cents: 0 })
})
