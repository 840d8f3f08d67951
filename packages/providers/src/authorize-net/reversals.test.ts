// Money that goes back after a success: voids, returned eChecks, and refunds made in the merchant interface.
import t from 'tap'
import { paidGateway, receiveLatest, retrieve, sampleInvoice, sampleRef } from './testing/authorizeNetHarness.ts'

const created = () => Date.now() - 1000
const refFor = (provider_payment_id: string) => sampleRef(created(), { provider_payment_id })

t.test('Authorize.Net: a voided charge is reported as reversed, by its notification and its snapshot', async (t) => {
  const { fake, provider, transId } = await paidGateway(t)
  fake.voidTransaction(transId)
  const reversals = [{ provider_payment_id: transId, note: 'voided' }]
  const { completed } = await receiveLatest(fake, provider)
  t.match(completed.report, { about: 'status', status: 'canceled', provider_payment_id: transId, reversals })
  t.match((await retrieve(provider, refFor(transId))).report, { status: 'canceled', reversals })
})

t.test('Authorize.Net: the void of a second charge is reported beside the charge that pays', async (t) => {
  const { fake, provider, transId } = await paidGateway(t)
  const second = fake.pay({ invoiceNumber: null, amount_cents: 2599 }, { card: 'card-2' }).transId
  Object.assign(fake.transactions.at(-1) ?? {}, { invoiceNumber: sampleInvoice })
  fake.voidTransaction(second)
  const expected = {
    status: 'succeeded',
    provider_payment_id: transId,
    reversals: [{ provider_payment_id: second, note: 'voided' }],
  }
  t.match((await receiveLatest(fake, provider)).completed.report, expected)
  t.match((await retrieve(provider, refFor(transId))).report, expected)
})

t.test('Authorize.Net: a returned eCheck is reversed with the code of the bank', async (t) => {
  const { fake, provider, transId } = await paidGateway(t)
  fake.settle()
  fake.returnCheck(transId)
  t.match((await retrieve(provider, refFor(transId))).report, {
    status: 'succeeded',
    reversals: [{ provider_payment_id: transId, note: 'returnedItem R01 Insufficient Funds' }],
  })
  t.same(fake.moneyOf(sampleInvoice), { received_cents: 2599, refunded_cents: 2599 })
})

t.test('Authorize.Net: each status of a reversed charge is its note', async (t) => {
  const { fake, provider, transId } = await paidGateway(t)
  const [charge] = fake.transactions
  if (!charge) throw new Error('no charge')
  for (const [transactionStatus, status] of [
    ['returnedItem', 'failed'],
    ['settlementError', 'failed'],
    ['chargeback', 'succeeded'],
  ] as const) {
    charge.transactionStatus = transactionStatus
    t.match((await retrieve(provider, refFor(transId))).report, {
      status,
      reversals: [{ provider_payment_id: transId, note: transactionStatus }],
    })
  }
})

t.test('Authorize.Net: a returned eCheck with a separate transaction reverses the charge that it names', async (t) => {
  const { fake, provider, transId } = await paidGateway(t)
  fake.settle()
  const returned = fake.refund(transId, 2599, { invoiceNumber: sampleInvoice })
  Object.assign(returned, { transactionType: 'authCaptureTransaction', transactionStatus: 'returnedItem' })
  t.match(await retrieve(provider, refFor(transId)), {
    report: { status: 'succeeded', reversals: [{ provider_payment_id: transId, note: 'returnedItem' }] },
    further_charges: [],
  })
})

t.test('Authorize.Net: a snapshot has the refunds of the merchant interface, days later too', async (t) => {
  const { fake, provider, transId } = await paidGateway(t)
  fake.settle()
  const first = fake.refund(transId, 1000, { invoiceNumber: sampleInvoice })
  const voided = fake.refund(transId, 500, { invoiceNumber: sampleInvoice })
  const declined = fake.refund(transId, 700, { invoiceNumber: sampleInvoice })
  fake.voidTransaction(voided.transId)
  Object.assign(declined, { transactionStatus: 'declined', settleCents: 0 })
  const { refunds = [] } = await retrieve(provider, refFor(transId))
  const about = { refund_id: null, provider_payment_id: transId }
  t.match(
    refunds.toSorted((a, b) => Number(a.provider_refund_id) - Number(b.provider_refund_id)),
    [
      { ...about, provider_refund_id: first.transId, amount_cents: 1000, status: 'succeeded' },
      { ...about, provider_refund_id: voided.transId, status: 'failed', failure_code: 'voided' },
    ],
  )
  t.equal(refunds.length, 2)
  const old = sampleRef(Date.now() - 20 * 24 * 60 * 60 * 1000, { provider_payment_id: transId })
  const found = (await retrieve(provider, old)).refunds ?? []
  t.equal(found.length, 2, 'not settled yet')
})
