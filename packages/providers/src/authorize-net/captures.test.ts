// Manual capture, and canceling payments that nobody has captured.
import t from 'tap'
import type { IntentRef, Provider } from '../provider.ts'
import type { ConnectedProvider } from '../testing/providerHarness.ts'
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
  const gateway = await authorizeNetHarness(t, { allowDouble: true })
  const page = await openHostedPage(gateway.provider, manual)
  const { transId } = gateway.fake.pay(page)
  return { ...gateway, page, transId, ref: sampleRef(created(), { ...manual, provider_payment_id: transId }) }
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
  const { evidence } = await retrieve(provider, sampleRef(created()))
  t.match(evidence, { status: 'processing', provider_payment_id: transId, capturable_cents: 2599 })
  const { completed } = await receiveLatest(fake, provider)
  t.match(completed.report, { about: 'status', status: 'processing', capturable_cents: 2599 })
})

t.test('Authorize.Net: an authorization is captured, in part too, and once', async (t) => {
  for (const amount of [2599, 1000]) {
    const { fake, provider, transId, ref } = await authorizedGateway(t)
    const { evidence } = await capture(provider, ref, amount)
    t.match(evidence, { status: 'succeeded', amount_cents: amount, provider_payment_id: transId })
    t.notOk('capturable_cents' in evidence)
    t.match((await capture(provider, ref, 500)).evidence, { status: 'succeeded', amount_cents: amount }, 'again')
    t.same(fake.moneyOf(sampleInvoice), { received_cents: amount, refunded_cents: 0 })
  }
})

t.test('Authorize.Net: a capture that the gateway rejects is an error, or the state that caused it', async (t) => {
  const { fake, provider, transId, ref } = await authorizedGateway(t)
  await t.rejects(capture(provider, ref, 2600), { kind: 'rejected', code: '47' })
  fake.voidTransaction(transId)
  t.match((await capture(provider, ref)).evidence, { status: 'canceled', provider_payment_id: transId })
  const missing = { ...ref, provider_payment_id: '1' }
  await t.rejects(capture(provider, missing), { kind: 'rejected', code: 'transaction_not_found' })
})

t.test('Authorize.Net: canceling an unpaid payment calls nothing, because its token lapses', async (t) => {
  const { fake, provider } = await authorizeNetHarness(t)
  const page = await openHostedPage(provider)
  t.match((await cancel(provider, sampleRef(created()))).evidence, { status: 'canceled', provider_payment_id: null })
  fake.pay(page, { outcome: 'declined' })
  t.match((await cancel(provider, sampleRef(created()))).evidence, { status: 'canceled' }, 'after a declined attempt')
  t.notOk(fake.calls.some(({ method }) => method === 'createTransaction'))
})

t.test('Authorize.Net: canceling voids every authorization of the payment, and repeats harmlessly', async (t) => {
  const { fake, provider, page, transId, ref } = await authorizedGateway(t)
  fake.pay(page, { card: 'card-2' })
  fake.faults.next({ kind: 'drop', commits: true })
  for (const _ of [1, 2])
    t.match((await cancel(provider, ref)).evidence, { status: 'canceled', provider_intent_id: sampleInvoice })
  t.same(
    fake.transactions.map(({ transactionStatus }) => transactionStatus),
    ['voided', 'voided'],
  )
  t.match(await retrieve(provider, ref), { evidence: { status: 'canceled', provider_payment_id: transId } })
})

t.test('Authorize.Net: a captured payment is not canceled, also when it was captured meanwhile', async (t) => {
  const paid = await paidGateway(t)
  t.match(await cancel(paid.provider, sampleRef(created())), {
    evidence: { status: 'succeeded', provider_payment_id: paid.transId },
  })
  const { fake, provider, transId, ref } = await authorizedGateway(t)
  fake.failNextTransaction('16')
  await t.rejects(cancel(provider, ref), { kind: 'rejected', code: '16' }, 'still authorized')
  fake.capture(transId)
  t.match((await cancel(provider, ref)).evidence, { status: 'succeeded' })
  t.same(fake.moneyOf(sampleInvoice), { received_cents: 2599, refunded_cents: 0 })
})

t.test('Authorize.Net: a payment that is held for review is not canceled', async (t) => {
  const { provider, transId } = await paidGateway(t, { outcome: 'held' })
  const ref = sampleRef(created(), { provider_payment_id: transId })
  t.match((await cancel(provider, ref)).evidence, { status: 'processing' })
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
