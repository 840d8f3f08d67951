// Payment ids and invoice numbers at Authorize.Net.
import t from 'tap'
import { endOfPaymentId, paymentIdEndingIn } from '../findableId.ts'
import type { ProviderIds } from '../provider.ts'
import {
  authorizeNetHarness,
  openHostedPage,
  paidGateway,
  receiveLatest,
  sampleInvoice,
} from './testing/authorizeNetHarness.ts'

const invoiceOnly = (provider_intent_id: string): ProviderIds => ({ provider_intent_id, provider_payment_id: null })
const transactionOnly = (provider_payment_id: string): ProviderIds => ({
  provider_intent_id: null,
  provider_payment_id,
})

t.test('Authorize.Net: a new payment’s intent, notifications and refunds lead to its id', async (t) => {
  const { fake, provider } = await authorizeNetHarness(t)
  const payment_id = provider.newPaymentId()
  t.equal(paymentIdEndingIn(endOfPaymentId(payment_id)), payment_id)
  const { transId } = fake.pay(await openHostedPage(provider, { payment_id, idempotency_key: payment_id }))
  const paid = (await receiveLatest(fake, provider)).completed
  t.match(paid, { referenced_payment_id: payment_id, report: { about: 'status' } })
  t.equal(paid.report?.provider_intent_id, endOfPaymentId(payment_id))
  fake.settle()
  fake.refund(transId, 72, { invoiceNumber: sampleInvoice })
  const refunded = (await receiveLatest(fake, provider)).completed
  t.match(refunded, { referenced_payment_id: payment_id, report: { about: 'refund', provider_payment_id: transId } })
})

t.test('Authorize.Net: an invoice number of our form leads to its payment without a call', async (t) => {
  const { fake, provider } = await authorizeNetHarness(t)
  t.equal(await provider.findPaymentId(invoiceOnly(sampleInvoice)), paymentIdEndingIn(sampleInvoice))
  const others = ['INV-1', sampleInvoice.toUpperCase(), `${sampleInvoice}0`, sampleInvoice.slice(1), '60022194830', '']
  for (const id of others) t.equal(await provider.findPaymentId(invoiceOnly(id)), null, id)
  for (const id of ['no number', sampleInvoice, ''])
    t.equal(await provider.findPaymentId(transactionOnly(id)), null, id)
  t.equal(await provider.findPaymentId({ provider_intent_id: null, provider_payment_id: null }), null)
  t.equal(fake.calls.length, 0)
})

t.test('Authorize.Net: a transaction leads to the payment of its invoice number', async (t) => {
  const { fake, provider, transId } = await paidGateway(t)
  t.equal(await provider.findPaymentId(transactionOnly(transId)), paymentIdEndingIn(sampleInvoice))
  for (const invoiceNumber of ['INV-1', null]) {
    const foreign = fake.pay({ invoiceNumber, amount_cents: 725 })
    t.equal(await provider.findPaymentId(transactionOnly(foreign.transId)), null, `${invoiceNumber}`)
  }
  t.equal(await provider.findPaymentId(transactionOnly('1')), null, 'an unknown transaction')
  fake.failNext('E00013')
  t.equal(await provider.findPaymentId(transactionOnly(transId)), null, 'a rejected lookup')
})

t.test('Authorize.Net: a generic event about an invoice number of ours names its payment', async (t) => {
  const { provider } = await authorizeNetHarness(t)
  const read = (type: string, object: object) =>
    provider.readNotification(
      Buffer.from(
        JSON.stringify({
          id: 'evt_1',
          type,
          created: 1_788_256_800,
          data: { object: { amount: 2599, currency: 'usd', ...object } },
        }),
      ),
    ).referenced_payment_id
  const named = '018f0000-0000-7000-8000-000000000001'
  for (const type of ['payment_intent.created', 'payment_intent.succeeded']) {
    t.equal(read(type, { id: sampleInvoice }), paymentIdEndingIn(sampleInvoice), type)
    t.equal(read(type, { id: sampleInvoice, metadata: { payment_id: named } }), named, type)
    t.equal(read(type, { id: '60022194830' }), null, type)
  }
  t.equal(read('customer.created', { id: sampleInvoice }), null, 'not about a payment')
})
