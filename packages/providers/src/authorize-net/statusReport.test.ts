import t from 'tap'
import {
  authorizeNetHarness,
  complete,
  openHostedPage,
  paidGateway,
  receiveLatest,
  sampleInvoice,
} from './testing/authorizeNetHarness.ts'

const hourMs = 60 * 60 * 1000

t.test('Authorize.Net: a report that matches its event has the event’s time', async (t) => {
  const { fake, provider, transId } = await paidGateway(t, { outcome: 'held' })
  const held = fake.events.at(-1)
  fake.advance(3 * hourMs)
  const { notification, completed } = await receiveLatest(fake, provider)
  t.equal(completed.report?.provider_time, notification.occurred_at)
  t.ok(Date.parse(notification.occurred_at) < fake.now() - hourMs)
  fake.declineHeld(transId)
  fake.advance(3 * hourMs)
  const declined = await receiveLatest(fake, provider)
  t.match(declined.completed.report, { status: 'failed', provider_time: declined.notification.occurred_at })
  const late = await complete(provider, provider.readNotification(Buffer.from(held?.body ?? '')))
  t.match(late.completed.report, { status: 'failed' }, 'differs from its event')
  t.ok(Math.abs(Date.parse(late.completed.report?.provider_time ?? '') - fake.now()) < 5000, 'has the response’s time')
  t.equal(late.completed.occurred_at, notification.occurred_at)
})

t.test('Authorize.Net: ending one attempt does not end a payment that another attempt pays', async (t) => {
  for (const end of ['voidTransaction', 'declineHeld'] as const)
    for (const [outcome, status] of [
      ['approved', 'succeeded'],
      ['held', 'processing'],
    ] as const)
      for (const settles of [false, true]) {
        const { fake, provider } = await authorizeNetHarness(t)
        const token = await openHostedPage(provider)
        const first = fake.pay(token, { card: 'card-1', outcome: 'held' })
        const other = fake.pay(token, { card: 'card-2', outcome })
        if (settles) fake.settle()
        fake[end](first.transId)
        fake.advance(3 * hourMs)
        const { notification, completed } = await receiveLatest(fake, provider)
        t.match(completed, { object_id: first.transId, generic_type: notification.generic_type })
        t.match(completed.report, {
          status,
          provider_intent_id: sampleInvoice,
          provider_payment_id: other.transId,
          amount_cents: 2599,
        })
        t.ok(Math.abs(Date.parse(completed.report?.provider_time ?? '') - fake.now()) < 5000)
      }
})

t.test('Authorize.Net: a late void reports the other attempt that was released and settled late', async (t) => {
  const { fake, provider } = await authorizeNetHarness(t)
  fake.advance(-40 * 24 * hourMs)
  const token = await openHostedPage(provider)
  const first = fake.pay(token, { card: 'card-1', authOnly: true })
  const other = fake.pay(token, { card: 'card-2', outcome: 'held' })
  fake.advance(20 * 24 * hourMs)
  fake.approveHeld(other.transId)
  fake.settle()
  fake.advance(10 * 24 * hourMs)
  fake.voidTransaction(first.transId)
  t.match((await receiveLatest(fake, provider)).completed.report, {
    status: 'succeeded',
    provider_payment_id: other.transId,
  })
})

t.test('Authorize.Net: a void reports the other attempt even while the voided one is listed as paid', async (t) => {
  const { fake, provider } = await authorizeNetHarness(t, { allowDouble: true })
  fake.advance(-40 * 24 * hourMs)
  const token = await openHostedPage(provider)
  const { transId } = fake.pay(token, { card: 'card-1' })
  const other = fake.pay(token, { card: 'card-2', outcome: 'held' })
  fake.settle()
  fake.advance(20 * 24 * hourMs)
  fake.approveHeld(other.transId)
  fake.settle()
  fake.notify('payment.void.created', { responseCode: 1, entityName: 'transaction', id: transId })
  t.match((await receiveLatest(fake, provider)).completed.report, { provider_payment_id: other.transId })
})

t.test('Authorize.Net: a void fails for retry when the other attempts cannot be read', async (t) => {
  const { fake, provider, transId } = await paidGateway(t)
  fake.voidTransaction(transId)
  fake.failNext('E00104', { method: 'getUnsettledTransactionList' })
  await t.rejects(receiveLatest(fake, provider), { name: 'ProviderError', kind: 'unavailable' })
  t.match((await receiveLatest(fake, provider)).completed.report, {
    status: 'canceled',
    provider_payment_id: transId,
  })
})
