// The fake's voids, captures and refunds behave like the gateway's.
import t from 'tap'
import { type FakeAuthorizeNet, startFakeAuthorizeNet } from './fakeAuthorizeNet.ts'

const merchantAuthentication = { name: 'fake-login', transactionKey: 'fake-key' }
const source = { invoiceNumber: 'a', amount_cents: 2000 }
const payment = { creditCard: { cardNumber: '1111', expirationDate: 'XXXX' } }

/** @returns the reason code and the transaction's id */
async function submit(fake: FakeAuthorizeNet, transactionRequest: object) {
  const response = await fetch(`${fake.origin}/xml/v1/request.api`, {
    method: 'POST',
    body: JSON.stringify({ createTransactionRequest: { merchantAuthentication, transactionRequest } }),
  })
  const { transactionResponse: result, messages } = JSON.parse((await response.text()).replace(/^\ufeff/, ''))
  const [reason] = result.errors ?? result.messages
  return { code: reason.errorCode ?? reason.code, transId: result.transId, call: messages.message[0].code }
}

const refundOf = (refTransId: string, amount: string, poNumber = 'po') => ({
  ...{ transactionType: 'refundTransaction', amount, payment, refTransId, poNumber },
})
const voidOf = (refTransId: string) => ({ transactionType: 'voidTransaction', refTransId })
const captureOf = (refTransId: string, amount: string) => ({
  ...{ transactionType: 'priorAuthCaptureTransaction', amount, refTransId },
})
const failed = (code: string) => ({ code, transId: '0', call: 'E00027' })

t.test('fake Authorize.Net: only settled charges are refunded, up to their amount', async (t) => {
  const fake = await startFakeAuthorizeNet(t)
  const { transId } = fake.pay(source)
  t.same(await submit(fake, refundOf(transId, '5.00')), failed('54'), 'not settled')
  fake.settle()
  t.match(await submit(fake, refundOf(transId, '5.00')), { code: '1', call: 'I00001' })
  t.same(await submit(fake, refundOf(transId, '15.01')), failed('55'))
  t.match(await submit(fake, refundOf(transId, '15.00')), { code: '1' })
  t.same(await submit(fake, refundOf('1', '1.00')), failed('16'))
  const other = {
    ...refundOf(transId, '1.00'),
    payment: { creditCard: { cardNumber: '2222', expirationDate: 'XXXX' } },
  }
  t.same(await submit(fake, other), failed('54'), 'another card')
  t.same(fake.moneyOf('a'), { received_cents: 2000, refunded_cents: 2000 })
})

t.test(
  'fake Authorize.Net: the same refund within the window is a duplicate, unless its PO number differs',
  async (t) => {
    const fake = await startFakeAuthorizeNet(t)
    const { transId } = fake.pay(source)
    fake.settle()
    await submit(fake, refundOf(transId, '5.00'))
    t.same(await submit(fake, refundOf(transId, '5.00')), failed('11'))
    t.match(await submit(fake, refundOf(transId, '5.00', 'po 2')), { code: '1' })
    fake.advance(121_000)
    t.match(await submit(fake, refundOf(transId, '5.00')), { code: '1' })
  },
)

t.test('fake Authorize.Net: a void ends an unsettled transaction once', async (t) => {
  const fake = await startFakeAuthorizeNet(t)
  const { transId } = fake.pay(source)
  t.same(await submit(fake, voidOf(transId)), { code: '1', transId, call: 'I00001' })
  t.same(await submit(fake, voidOf(transId)), { code: '310', transId, call: 'I00001' })
  t.same(fake.moneyOf('a'), { received_cents: 2000, refunded_cents: 2000 })
  const settled = fake.pay({ ...source, invoiceNumber: 'b' }).transId
  fake.settle()
  t.same(await submit(fake, voidOf(settled)), failed('16'))
})

t.test('fake Authorize.Net: an authorization is captured once, up to its amount', async (t) => {
  const fake = await startFakeAuthorizeNet(t)
  const { transId } = fake.pay(source, { authOnly: true })
  t.same(fake.moneyOf('a'), { received_cents: 0, refunded_cents: 0 })
  t.same(await submit(fake, captureOf(transId, '20.01')), failed('47'))
  t.match(await submit(fake, captureOf(transId, '12.00')), { code: '1' })
  t.match(await submit(fake, captureOf(transId, '8.00')), { code: '311' })
  t.same(fake.moneyOf('a'), { received_cents: 1200, refunded_cents: 0 })
})
