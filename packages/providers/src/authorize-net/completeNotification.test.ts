import t from 'tap'
import { paymentIdEndingIn } from '../findableId.ts'
import {
  authorizeNetHarness,
  complete,
  paidGateway,
  receiveLatest,
  sampleInvoice,
} from './testing/authorizeNetHarness.ts'

t.test(
  'Authorize.Net: a completed payment notification has the invoice number, exact amount and customer',
  async (t) => {
    const { fake, provider, transId } = await paidGateway(t, { email: 'ada@example.com' })
    const { notification, completed } = await receiveLatest(fake, provider)
    t.match(completed, {
      ...notification,
      generic_type: 'payment_intent.succeeded',
      object_id: transId,
      amount_cents: 2599,
      currency: 'USD',
      status: 'capturedpendingsettlement',
      customer_email: 'ada@example.com',
      referenced_payment_id: paymentIdEndingIn(sampleInvoice),
      report: {
        about: 'status',
        status: 'succeeded',
        provider_event_id: notification.provider_event_id,
        provider_intent_id: sampleInvoice,
        provider_payment_id: transId,
        amount_cents: 2599,
        currency: 'USD',
      },
      subscription: null,
    })
  },
)

t.test('Authorize.Net: each notification of a payment is completed with the resulting status', async (t) => {
  const { fake, provider, transId } = await paidGateway(t, { authOnly: true })
  const latestReport = async () => (await receiveLatest(fake, provider)).completed.report
  t.match(await latestReport(), { about: 'status', status: 'processing', provider_payment_id: transId })
  fake.capture(transId, 1999)
  t.match(await latestReport(), { about: 'status', status: 'succeeded', amount_cents: 1999 })
  fake.voidTransaction(transId)
  t.match(await latestReport(), { about: 'status', status: 'canceled', provider_intent_id: sampleInvoice })
})

t.test(
  'Authorize.Net: a payment held for review is processing, then succeeded or failed by the decision',
  async (t) => {
    for (const [decide, status, generic] of [
      ['approveHeld', 'succeeded', 'payment_intent.succeeded'],
      ['declineHeld', 'failed', 'payment_intent.failed'],
    ] as const) {
      const { fake, provider, transId } = await paidGateway(t, { outcome: 'held' })
      const held = (await receiveLatest(fake, provider)).completed
      t.match(held, { generic_type: 'payment_intent.processing', report: { status: 'processing' } })
      fake[decide](transId)
      const { completed } = await receiveLatest(fake, provider)
      t.match(completed, { generic_type: generic, report: { about: 'status', status, provider_payment_id: transId } })
    }
  },
)

t.test(
  'Authorize.Net: a void notification cancels the payment even if the details still show it as paid',
  async (t) => {
    const { fake, provider, transId } = await paidGateway(t)
    fake.notify('payment.void.created', { responseCode: 1, authAmount: 25.99, entityName: 'transaction', id: transId })
    t.match((await receiveLatest(fake, provider)).completed.report, {
      about: 'status',
      status: 'canceled',
      reversals: [{ provider_payment_id: transId, note: 'voided' }],
    })
  },
)

t.test('Authorize.Net: a refund notification reports a refund of the refunded payment', async (t) => {
  const { fake, provider, transId } = await paidGateway(t)
  fake.settle()
  for (const invoiceNumber of [null, 'something else', sampleInvoice]) {
    const refund = fake.refund(transId, 72, { invoiceNumber })
    const { notification, completed } = await receiveLatest(fake, provider)
    t.match(completed, { generic_type: null, amount_cents: 72, currency: 'USD', object_id: refund.transId })
    t.match(completed.report, {
      about: 'refund',
      provider_event_id: notification.provider_event_id,
      provider_intent_id: sampleInvoice,
      provider_payment_id: transId,
      refund_id: null,
      provider_refund_id: refund.transId,
      amount_cents: 72,
      currency: 'USD',
      status: 'succeeded',
    })
  }
})

t.test('Authorize.Net: a voided refund is reported as failed and does not cancel its payment', async (t) => {
  const { fake, provider, transId } = await paidGateway(t)
  fake.settle()
  const refund = fake.refund(transId, 72)
  fake.voidTransaction(refund.transId)
  const { completed } = await receiveLatest(fake, provider)
  t.match(completed, {
    generic_type: null,
    report: { about: 'refund', provider_refund_id: refund.transId, status: 'failed', failure_code: 'voided' },
  })
})

t.test('Authorize.Net: a payment with a foreign invoice number, and its refund, have no report', async (t) => {
  const { fake, provider } = await authorizeNetHarness(t)
  for (const invoiceNumber of ['INV-1', null, sampleInvoice.toUpperCase(), `${sampleInvoice}0`]) {
    const { transId } = fake.pay({ invoiceNumber, amount_cents: 725 })
    const { completed } = await receiveLatest(fake, provider)
    t.match(completed, { generic_type: 'payment_intent.succeeded', amount_cents: 725, object_id: transId })
    t.match(completed, { currency: 'USD', referenced_payment_id: null, report: null })
    fake.settle()
    fake.refund(transId, 72)
    t.match((await receiveLatest(fake, provider)).completed, {
      amount_cents: 72,
      referenced_payment_id: null,
      report: null,
    })
  }
})

t.test('Authorize.Net: a subscription payment becomes an invoice notification without a payment report', async (t) => {
  const { fake, provider } = await authorizeNetHarness(t)
  for (const payNum of [1, 2]) {
    const { transId } = fake.pay(
      { invoiceNumber: sampleInvoice, amount_cents: 1155 + payNum },
      { subscription: { id: 4415473, payNum }, email: 'ada@example.com' },
    )
    const { completed } = await receiveLatest(fake, provider)
    t.match(completed, {
      generic_type: 'invoice.payment_succeeded',
      object_id: transId,
      amount_cents: 1155 + payNum,
      currency: 'USD',
      customer_email: 'ada@example.com',
      report: null,
      subscription: {
        subscription_id: '4415473',
        current_period_end: null,
        status_changed: false,
        is_first_invoice: payNum === 1,
      },
    })
    fake.settle()
    fake.refund(transId)
    t.match((await receiveLatest(fake, provider)).completed.report, { about: 'refund' }, 'the refund is reported')
  }
})

t.test('Authorize.Net: a payment is not reported when only the notification names its subscription', async (t) => {
  const { fake, provider, transId } = await paidGateway(t)
  const subscription = { id: 4415473, payNum: 2 }
  fake.notify('payment.authcapture.created', { responseCode: 1, authAmount: 25.99, id: transId, subscription })
  const { completed } = await receiveLatest(fake, provider)
  t.match(completed, { generic_type: 'invoice.payment_succeeded', amount_cents: 2599, report: null })
  t.match(completed.subscription, { subscription_id: '4415473', is_first_invoice: false })
})

const minuteMs = 60_000

t.test(
  'Authorize.Net: a notification is left unchanged when its transaction is unknown after 15 minutes',
  async (t) => {
    const { fake, provider } = await authorizeNetHarness(t)
    fake.advance(-15 * minuteMs)
    for (const id of ['1', '0']) {
      fake.notify('payment.authcapture.created', { responseCode: 1, authAmount: 7.25, entityName: 'transaction', id })
      const { notification, completed } = await receiveLatest(fake, provider)
      t.same(completed, notification, id)
      t.equal(completed.report, null)
    }
  },
)

t.test(
  'Authorize.Net: completing a notification fails for retry while its transaction is not reported yet',
  async (t) => {
    const { fake, provider } = await authorizeNetHarness(t)
    const notYet = { name: 'ProviderError', kind: 'unknown', code: 'not_reported_yet' }
    for (const aheadMs of [-14 * minuteMs, 14 * minuteMs, 5 * minuteMs]) {
      fake.advance(aheadMs)
      fake.notify('payment.authcapture.created', { responseCode: 1, authAmount: 7.25, id: '1' })
      await t.rejects(receiveLatest(fake, provider), notYet)
    }
    fake.notify('payment.authcapture.created', { responseCode: 1, authAmount: 7.25, id: 'no number' })
    const { notification, completed } = await receiveLatest(fake, provider)
    t.same(completed, notification, 'an invalid id is not looked up')
  },
)

t.test('Authorize.Net: a generic notification about a transaction is completed too', async (t) => {
  const { provider, transId } = await paidGateway(t)
  const payload = { responseCode: 1, authAmount: 25.99, id: transId }
  const body = (eventType: string) =>
    Buffer.from(JSON.stringify({ notificationId: 'n1', eventType, eventDate: new Date().toISOString(), payload }))
  for (const [name, status] of Object.entries({ succeeded: 'succeeded', canceled: 'canceled', failed: 'succeeded' })) {
    const { completed } = await complete(provider, provider.readNotification(body(`payment_intent.${name}`)))
    t.match(completed, {
      generic_type: `payment_intent.${name}`,
      report: { about: 'status', status, provider_intent_id: sampleInvoice, provider_payment_id: transId },
    })
  }
})

t.test('Authorize.Net: a notification that names its payment is not completed', async (t) => {
  const { fake, provider } = await authorizeNetHarness(t)
  for (const id of [sampleInvoice, '60022194830']) {
    const object = { id, amount: 2599, currency: 'usd', status: 'succeeded', customer: null }
    const event = { id: 'evt_1', type: 'payment_intent.succeeded', created: 1_788_256_800, data: { object } }
    const notification = provider.readNotification(Buffer.from(JSON.stringify(event)))
    t.match(notification.report, { status: 'succeeded', provider_intent_id: id })
    t.same((await complete(provider, notification)).completed, notification)
  }
  t.equal(fake.calls.length, 0)
})

t.test('Authorize.Net: a notification about a customer is left unchanged without a call', async (t) => {
  const { fake, provider } = await authorizeNetHarness(t)
  fake.notify('customer.created', { entityName: 'customerProfile', id: '394' })
  const { notification, completed } = await receiveLatest(fake, provider)
  t.same(completed, notification)
  t.equal(fake.calls.length, 0)
})

t.test('Authorize.Net: completing a notification fails for retry while the gateway does not respond', async (t) => {
  const { fake, provider, transId } = await paidGateway(t)
  const lost = { kind: 'drop', commits: false } as const
  fake.readFaults.next(lost, lost, lost)
  await t.rejects(receiveLatest(fake, provider), { name: 'ProviderError', kind: 'unknown' })
  t.match((await receiveLatest(fake, provider)).completed.report, { provider_payment_id: transId })
})
