// Canceling, capturing and refunding a charge.
import t from 'tap'
import type { IntentRef, Provider, RefundCharge } from '../provider.ts'
import type { ConnectedProvider } from '../testing/providerHarness.ts'
import { refund_id, refundOf } from '../testing/requests.ts'
import {
  authorizeNetHarness,
  openHostedPage,
  paidGateway,
  receiveLatest,
  retrieve,
  sampleInvoice,
  sampleRef,
} from './testing/authorizeNetHarness.ts'

const created = () => Date.now() - 1000
const manual = { capture_method: 'manual' } as const

async function authorizedGateway(t: Parameters<typeof paidGateway>[0]) {
  const merchant = await authorizeNetHarness(t, { allowDouble: true })
  const page = await openHostedPage(merchant.provider, manual)
  const { transId } = merchant.fake.pay(page)
  return { ...merchant, page, transId, ref: sampleRef(created(), { ...manual, provider_payment_id: transId }) }
}

function capture(provider: ConnectedProvider, ref: IntentRef, amount_cents = 2599) {
  return provider.captureAuthorized({ ...ref, amount_cents, idempotency_key: 'capture-1' })
}

async function cancel(provider: Provider, ref: IntentRef) {
  const snapshot = await provider.cancelIntent({ ...ref, idempotency_key: 'cancel-1' })
  if (snapshot === null) throw new Error('no snapshot')
  return snapshot
}

t.test('Authorize.Net: a manual payment is authorized, and processing with what is capturable', async (t) => {
  const { fake, provider, transId } = await authorizedGateway(t)
  t.match(fake.calls[0], {
    request: { transactionRequest: { transactionType: 'authOnlyTransaction' } },
  })
  const { report } = await retrieve(provider, sampleRef(created()))
  t.match(report, { status: 'processing', provider_payment_id: transId, capturable_cents: 2599 })
  const { completed } = await receiveLatest(fake, provider)
  t.match(completed.report, { about: 'status', status: 'processing', capturable_cents: 2599 })
})

t.test('Authorize.Net: an authorization is captured, in part too, and once', async (t) => {
  for (const amount of [2599, 1000]) {
    const { fake, provider, transId, ref } = await authorizedGateway(t)
    const { report } = await capture(provider, ref, amount)
    t.match(report, { status: 'succeeded', amount_cents: amount, provider_payment_id: transId })
    t.notOk('capturable_cents' in report)
    t.match((await capture(provider, ref, 500)).report, { status: 'succeeded', amount_cents: amount }, 'again')
    t.same(fake.moneyOf(sampleInvoice), { received_cents: amount, refunded_cents: 0 })
  }
})

t.test('Authorize.Net: a capture that the gateway rejects is an error, or the state that caused it', async (t) => {
  const { fake, provider, transId, ref } = await authorizedGateway(t)
  await t.rejects(capture(provider, ref, 2600), { kind: 'rejected', code: '47' })
  fake.voidTransaction(transId)
  t.match((await capture(provider, ref)).report, { status: 'canceled', provider_payment_id: transId })
  const missing = { ...ref, provider_payment_id: '1' }
  await t.rejects(capture(provider, missing), { kind: 'rejected', code: 'transaction_not_found' })
})

t.test('Authorize.Net: canceling an unpaid payment calls nothing, because its token lapses', async (t) => {
  const { fake, provider } = await authorizeNetHarness(t)
  const page = await openHostedPage(provider)
  t.match((await cancel(provider, sampleRef(created()))).report, { status: 'canceled', provider_payment_id: null })
  fake.pay(page, { outcome: 'declined' })
  t.match((await cancel(provider, sampleRef(created()))).report, { status: 'canceled' }, 'after a declined attempt')
  t.notOk(fake.calls.some(({ method }) => method === 'createTransaction'))
})

t.test('Authorize.Net: canceling voids every authorization of the payment, and repeats harmlessly', async (t) => {
  const { fake, provider, page, transId, ref } = await authorizedGateway(t)
  fake.pay(page, { card: 'card-2' })
  fake.faults.next({ kind: 'drop', commits: true })
  for (const _ of [1, 2])
    t.match((await cancel(provider, ref)).report, { status: 'canceled', provider_intent_id: sampleInvoice })
  t.same(
    fake.transactions.map(({ transactionStatus }) => transactionStatus),
    ['voided', 'voided'],
  )
  t.match(await retrieve(provider, ref), { report: { status: 'canceled', provider_payment_id: transId } })
})

t.test('Authorize.Net: a captured payment is not canceled, also when it was captured meanwhile', async (t) => {
  const paid = await paidGateway(t)
  t.match(await cancel(paid.provider, sampleRef(created())), {
    report: { status: 'succeeded', provider_payment_id: paid.transId },
  })
  const { fake, provider, transId, ref } = await authorizedGateway(t)
  fake.failNextTransaction('16')
  await t.rejects(cancel(provider, ref), { kind: 'rejected', code: '16' }, 'still authorized')
  fake.capture(transId)
  t.match((await cancel(provider, ref)).report, { status: 'succeeded' })
  t.same(fake.moneyOf(sampleInvoice), { received_cents: 2599, refunded_cents: 0 })
})

t.test('Authorize.Net: a payment that is held for review is not canceled', async (t) => {
  const { provider, transId } = await paidGateway(t, { outcome: 'held' })
  const ref = sampleRef(created(), { provider_payment_id: transId })
  t.match((await cancel(provider, ref)).report, { status: 'processing' })
})

t.test('Authorize.Net: the page of an unpaid payment expires after 15 minutes', async (t) => {
  const { fake, provider } = await authorizeNetHarness(t)
  t.ok(provider.pagesExpire)
  const page = await openHostedPage(provider)
  const minutesAgo = (minutes: number) => sampleRef(fake.now() - minutes * 60_000)
  t.notOk((await retrieve(provider, minutesAgo(14))).is_page_expired)
  t.ok((await retrieve(provider, minutesAgo(16))).is_page_expired)
  fake.pay(page, { outcome: 'declined' })
  t.ok((await retrieve(provider, minutesAgo(16))).is_page_expired, 'after a declined attempt')
  fake.pay(page)
  t.notOk((await retrieve(provider, minutesAgo(16))).is_page_expired, 'after it was paid')
})

const dayMs = 24 * 60 * 60 * 1000
const otherId = '018f2a3b-0000-7000-8000-00000000000b'

type Paid = { readonly transId: string; readonly requestedAt?: number }

function requestFor({ transId, requestedAt = Date.now() }: Paid, more: Partial<RefundCharge> = {}): RefundCharge {
  const ref = sampleRef(Date.now() - 1000, { provider_payment_id: transId })
  const whole = { amount_cents: 2599, is_whole: true, requested_at: new Date(requestedAt).toISOString() }
  return refundOf(ref, { ...whole, ...more })
}

t.test('Authorize.Net: a whole refund before settlement is a void, also when it is repeated', async (t) => {
  const { fake, provider, transId } = await paidGateway(t)
  for (const is_repeated of [false, true])
    t.match(await provider.refund(requestFor({ transId }, { is_repeated })), {
      refund_id,
      provider_refund_id: transId,
      provider_payment_id: transId,
      amount_cents: 2599,
      status: 'succeeded',
    })
  t.same(fake.moneyOf(sampleInvoice), { received_cents: 2599, refunded_cents: 2599 })
  t.equal(fake.transactions.length, 1)
})

t.test('Authorize.Net: a settled transaction is refunded with the last digits of its card and our id', async (t) => {
  const { fake, provider, transId } = await paidGateway(t)
  fake.settle()
  const part = { amount_cents: 1000, is_whole: false }
  const reported = await provider.refund(requestFor({ transId }, part))
  const made = fake.transactions.at(-1)
  t.match(reported, { refund_id, provider_refund_id: made?.transId, amount_cents: 1000, status: 'succeeded' })
  t.match(fake.calls.at(-1), {
    method: 'createTransaction',
    request: {
      transactionRequest: {
        transactionType: 'refundTransaction',
        amount: '10.00',
        payment: { creditCard: { cardNumber: '1111', expirationDate: 'XXXX' } },
        refTransId: transId,
        order: { invoiceNumber: sampleInvoice, description: `Refund ${refund_id}` },
        poNumber: 'b00007000800000000000000a',
      },
    },
  })
  t.same(fake.moneyOf(sampleInvoice), { received_cents: 2599, refunded_cents: 1000 })
  await provider.refund(requestFor({ transId }, { ...part, refund_id: otherId }))
  t.same(fake.moneyOf(sampleInvoice), { received_cents: 2599, refunded_cents: 2000 }, 'the same amount again')
})

t.test('Authorize.Net: a refund whose response was lost is found by our id, and not made twice', async (t) => {
  const { fake, provider, transId } = await paidGateway(t)
  fake.settle()
  const requestedAt = Date.now()
  const request = (is_repeated: boolean) =>
    requestFor({ transId, requestedAt }, { amount_cents: 1000, is_whole: false, is_repeated })
  fake.refund(transId, 1000, { invoiceNumber: sampleInvoice })
  fake.faults.next({ kind: 'drop', commits: true })
  await t.rejects(provider.refund(request(false)), { name: 'ProviderError', kind: 'unknown' })
  const made = fake.transactions.at(-1)
  for (const settles of [false, true]) {
    if (settles) fake.settle()
    t.match(await provider.refund(request(true)), { refund_id, provider_refund_id: made?.transId })
  }
  t.same(fake.moneyOf(sampleInvoice), { received_cents: 2599, refunded_cents: 2000 }, 'the merchant’s own counts too')
})

t.test(
  'Authorize.Net: a repeated refund that is not reported yet is rejected as a duplicate, and unknown',
  async (t) => {
    const { fake, provider, transId } = await paidGateway(t)
    fake.settle()
    const request = requestFor({ transId }, { amount_cents: 1000, is_whole: false })
    await provider.refund(request)
    const tooLate = new Date(Date.now() + 2 * dayMs).toISOString()
    const repeated = { ...request, is_repeated: true, requested_at: tooLate }
    // Settled long before the search begins, so that the search misses it.
    fake.advance(-3 * dayMs)
    fake.settle()
    fake.advance(3 * dayMs)
    await t.rejects(provider.refund(repeated), { kind: 'unknown', code: '11' })
    t.same(fake.moneyOf(sampleInvoice), { received_cents: 2599, refunded_cents: 1000 })
  },
)

t.test('Authorize.Net: a charge that settles before its void is refunded', async (t) => {
  const { fake, provider, transId } = await paidGateway(t)
  fake.failNextTransaction('16')
  const pending = provider.refund(requestFor({ transId }))
  await t.rejects(pending, { kind: 'rejected', code: '16' }, 'it has not settled')
  fake.failNextTransaction('16')
  fake.readFaults.next(undefined, { kind: 'slow', ms: 300 })
  const [reported] = await Promise.all([
    provider.refund(requestFor({ transId })),
    new Promise((resolve) => setTimeout(resolve, 150)).then(() => fake.settle()),
  ])
  t.not(reported.provider_refund_id, transId)
  t.same(fake.moneyOf(sampleInvoice), { received_cents: 2599, refunded_cents: 2599 })
})

t.test('Authorize.Net: each reason of a rejected refund is an error, and nothing is given back', async (t) => {
  const { fake, provider, transId } = await paidGateway(t)
  fake.settle()
  for (const [code, kind] of [
    ['11', 'unknown'],
    ['16', 'rejected'],
    ['54', 'rejected'],
    ['55', 'rejected'],
  ] as const) {
    fake.failNextTransaction(code)
    await t.rejects(provider.refund(requestFor({ transId })), { name: 'ProviderError', kind, code })
  }
  fake.failNextTransaction('2', 2)
  await t.rejects(provider.refund(requestFor({ transId })), { kind: 'declined', code: '2' })
  fake.failNext('E00027', { method: 'createTransaction' })
  await t.rejects(provider.refund(requestFor({ transId })), { kind: 'declined', code: 'E00027' })
  await t.rejects(provider.refund(requestFor({ transId }, { amount_cents: 2600 })), { kind: 'rejected', code: '55' })
  const missing = { kind: 'rejected', code: 'transaction_not_found' }
  await t.rejects(provider.refund(requestFor({ transId: '1' })), missing)
  t.same(fake.moneyOf(sampleInvoice), { received_cents: 2599, refunded_cents: 0 })
})

t.test('Authorize.Net: a part of an unsettled charge is not refundable until it settles', async (t) => {
  const { fake, provider, transId } = await paidGateway(t)
  const part = requestFor({ transId }, { amount_cents: 1000, is_whole: false })
  const error = await provider.checkRefund(part).catch((thrown: unknown) => thrown)
  t.match(error, { name: 'DomainError', code: 'payment_not_refundable', details: { settles_at: String } })
  const settlesAt = Date.parse(Object(error).details.settles_at)
  t.ok(settlesAt > Date.now() && settlesAt <= Date.now() + dayMs + 1000)
  await t.rejects(provider.refund(part), { kind: 'rejected', code: 'not_settled' })
  await t.resolves(provider.checkRefund(requestFor({ transId })), 'the whole can be voided')
  fake.readFaults.next({ kind: 'status', status: 403, commits: false })
  await t.resolves(provider.checkRefund(part), 'the refund itself finds out')
  fake.settle()
  await t.resolves(provider.checkRefund(part))
})

t.test('Authorize.Net: our refund names our id in its notification and in the snapshot', async (t) => {
  const { fake, provider, transId } = await paidGateway(t)
  fake.settle()
  await provider.refund(requestFor({ transId }))
  const { completed } = await receiveLatest(fake, provider)
  t.match(completed.report, { about: 'refund', refund_id, provider_payment_id: transId, status: 'succeeded' })
  const { refunds } = await retrieve(provider, sampleRef(Date.now() - 1000, { provider_payment_id: transId }))
  t.match(refunds, [{ refund_id, amount_cents: 2599, status: 'succeeded' }])
})
