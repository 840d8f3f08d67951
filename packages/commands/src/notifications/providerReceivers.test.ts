// The receivers of the providers that sign their notifications, with real adapters, and fakes that sign as the providers do.
// What a notification means is tested in packages/providers, in which order they may arrive in verification/src/histories.
import { matchList } from '@paylog/testing/assertions'
import { startFakeAuthorizeNet } from '@paylog/testing/authorize-net/fakeAuthorizeNet'
import { event as paypalEvent } from '@paylog/testing/paypal/events'
import { startFakePaypal } from '@paylog/testing/paypal/fakePaypal'
import { invoiceBody, subscriptionBody } from '@paylog/testing/stripe/billing'
import { startFakeStripe } from '@paylog/testing/stripe/fakeStripe'
import t, { type Test } from 'tap'
import { providerFromEnv } from '../testing/fakeProviders.ts'
import { type OpenedPayment, receiverHarness, type SignedNotification } from '../testing/receiverHarness.ts'

/** A notification. Each call of `sign` signs it anew, with the first of our secrets or with another valid one. */
type Notification = {
  readonly id: string
  readonly type: string
  sign(secret?: 'first' | 'rotated'): SignedNotification
}

type ReceiverSample = {
  readonly receiver: Awaited<ReturnType<typeof receiverHarness>>
  /** The payer pays or approves. */
  pay(payment: OpenedPayment): Notification
  /** What is recorded about the payment then. */
  readonly recorded: string
  /** Signatures that are wrong. */
  forgeries(good: SignedNotification): Readonly<Record<string, SignedNotification>>
  /** Notifications of other systems at the same account, with the fields that are recorded. */
  unmatched(): readonly (readonly [Notification, object])[]
}

async function stripeSample(t: Test): Promise<ReceiverSample> {
  const fake = await startFakeStripe(t)
  const rotated = 'whsec_next'
  const env = { ...fake.env, STRIPE_WEBHOOK_SECRET: `${fake.webhookSecret},${rotated}` }
  const notification = (event = fake.events.at(-1)): Notification => {
    if (!event) throw new Error('Stripe sent nothing')
    const sign: Notification['sign'] = (secret) =>
      fake.signed(event, secret === 'rotated' ? { secret: ['whsec_old', rotated] } : {})
    return { id: event.id, type: event.type, sign }
  }
  return {
    receiver: await receiverHarness(t, await providerFromEnv(t, env)),
    pay: ({ intent }) => notification(fake.pay(intent, 'succeeded').at(-1)),
    recorded: 'PaymentSucceeded',
    forgeries: (good) => ({
      forged: fake.signed(JSON.parse(good.body), { secret: 'whsec_forged' }),
      'signed long ago': fake.signed(JSON.parse(good.body), { at: new Date(Date.now() - 310_000) }),
    }),
    unmatched() {
      const foreign = fake.openIntent({ amount: 500, currency: 'eur' })
      const subscription = subscriptionBody({ status: 'active', customer: 'cus_1', current_period_end: 1_800_000_000 })
      const about = { subscription: subscription.id, customer: 'cus_1', billing_reason: 'subscription_create' }
      const { id: subscription_id } = subscription
      return [
        [
          notification(fake.pay(foreign.id, 'succeeded').at(-1)),
          { generic_type: 'payment_intent.succeeded', object_id: foreign.id, amount_cents: 500 },
        ],
        [
          notification(fake.event('customer.subscription.updated', subscription, { previous: { status: 'past_due' } })),
          {
            generic_type: 'subscription.updated',
            customer_id: 'cus_1',
            subscription: { subscription_id, current_period_end: '2027-01-15T08:00:00.000Z', status_changed: true },
          },
        ],
        [
          notification(fake.event('invoice.payment_succeeded', invoiceBody(about))),
          { generic_type: 'invoice.payment_succeeded', subscription: { subscription_id, is_first_invoice: true } },
        ],
        [
          notification(fake.event('customer.created', { id: 'cus_2', object: 'customer', email: 'new@example.com' })),
          { generic_type: 'customer.created', object_id: 'cus_2', customer_email: 'new@example.com' },
        ],
        [notification(fake.event('price.updated', { id: 'price_1' })), { generic_type: null, object_id: 'price_1' }],
      ]
    },
  }
}

async function paypalSample(t: Test): Promise<ReceiverSample> {
  const fake = await startFakePaypal(t, { webhookIds: ['8PT597110X687430L', '5GP028458E2496506'] })
  const notification = (event: ReturnType<typeof paypalEvent>): Notification => ({
    id: event.id,
    type: event.event_type,
    sign: (secret) => fake.signed(event, fake.webhookIds[secret === 'rotated' ? 1 : 0]),
  })
  return {
    receiver: await receiverHarness(t, await providerFromEnv(t, fake.env)),
    pay: ({ intent }) => notification(fake.approve(intent)),
    recorded: 'PaymentProcessingStarted',
    forgeries: (good) => ({
      'for another webhook': fake.signed(good, 'WH9'),
      'with another time': {
        ...good,
        headers: { ...good.headers, 'paypal-transmission-time': '2026-01-01T00:00:00Z' },
      },
    }),
    unmatched() {
      const subscription = {
        id: 'I-1',
        status: 'SUSPENDED',
        subscriber: { payer_id: 'PAYER1', email_address: 'a@b.example' },
      }
      const sale = {
        id: 'SALE1',
        state: 'completed',
        billing_agreement_id: 'I-1',
        amount: { total: '5.00', currency: 'USD' },
      }
      const money = { value: '9.00', currency_code: 'USD' }
      const capture = { id: 'CAPTURE1', status: 'COMPLETED', amount: money, custom_id: 'theirs' }
      return [
        [
          notification(paypalEvent('BILLING.SUBSCRIPTION.SUSPENDED', { resource: subscription })),
          { generic_type: 'subscription.updated', customer_id: 'PAYER1', subscription: { status_changed: true } },
        ],
        [
          notification(paypalEvent('PAYMENT.SALE.COMPLETED', { resource: sale })),
          { generic_type: 'invoice.payment_succeeded', amount_cents: 500, subscription: { subscription_id: 'I-1' } },
        ],
        [
          notification(paypalEvent('PAYMENT.CAPTURE.COMPLETED', { resource: capture })),
          { generic_type: 'payment_intent.succeeded', object_id: 'CAPTURE1', amount_cents: 900, currency: 'USD' },
        ],
        [notification(paypalEvent('SOMETHING.EMPTY', { resource: {} })), { generic_type: null, object_id: null }],
      ]
    },
  }
}

async function authorizeNetSample(t: Test): Promise<ReceiverSample> {
  const fake = await startFakeAuthorizeNet(t)
  const rotated = 'F0E1D2C3B4A59687'.repeat(8)
  const env = { ...fake.env, AUTHORIZE_NET_SIGNATURE_KEY: `${rotated},${fake.signatureKey}` }
  const notification = (event = fake.events.at(-1)): Notification => {
    if (!event) throw new Error('The gateway sent nothing')
    const sign: Notification['sign'] = (secret) => fake.signed(event, secret === 'rotated' ? { key: rotated } : {})
    return { id: event.notificationId, type: event.eventType, sign }
  }
  /** @returns the notification of what the payer or the merchant does */
  const after = (act: () => unknown, about: object) => {
    act()
    return [notification(), about] as const
  }
  return {
    receiver: await receiverHarness(t, await providerFromEnv(t, env)),
    pay({ secret }) {
      fake.pay({ token: secret })
      return notification()
    },
    recorded: 'PaymentSucceeded',
    forgeries: (good) => ({ forged: fake.signed(good, { key: 'A'.repeat(128) }) }),
    unmatched() {
      const subscription = { id: 4415473, payNum: 1 }
      const suspended = {
        entityName: 'subscription',
        id: '4415473',
        status: 'suspended',
        profile: { customerProfileId: 18 },
      }
      return [
        after(() => fake.pay({ invoiceNumber: 'theirs-1', amount_cents: 900 }), {
          ...{ generic_type: 'payment_intent.succeeded', amount_cents: 900 },
        }),
        after(() => fake.pay({ invoiceNumber: null, amount_cents: 1155 }, { subscription }), {
          ...{ generic_type: 'invoice.payment_succeeded', amount_cents: 1155 },
          subscription: { subscription_id: '4415473', is_first_invoice: true },
        }),
        after(() => fake.notify('customer.subscription.suspended', suspended), {
          ...{ generic_type: 'subscription.updated', customer_id: '18' },
          subscription: { subscription_id: '4415473', status_changed: true },
        }),
        after(() => fake.notify('something.new', { id: 'x' }), { generic_type: null, object_id: 'x' }),
      ]
    },
  }
}

const samples = { Stripe: stripeSample, PayPal: paypalSample, 'Authorize.Net': authorizeNetSample }

for (const [name, startSample] of Object.entries(samples))
  t.test(`the receiver of ${name} records what ${name} signed`, async (t) => {
    const { receiver, pay, recorded, forgeries, unmatched } = await startSample(t)
    const { open, send, historyOf, receivedBy, inboxOf, lastPosition } = receiver
    const storedOf = async (payment: OpenedPayment, { id }: Notification) => {
      const all = [...(await receivedBy(payment.id, id)), ...(await inboxOf(id))]
      return all.filter(({ type }) => type.endsWith('Received'))
    }

    t.test(`${name}: a notification is stored and applied, with each of two valid secrets`, async (t) => {
      for (const secret of ['first', 'rotated'] as const) {
        const payment = await open()
        const paid = pay(payment)
        const signed = paid.sign(secret)
        t.same(await send(signed), [200, undefined], secret)
        matchList(t, await storedOf(payment, paid), [{ data: { body: signed.body, provider_type: paid.type } }])
        t.same(await historyOf(payment.id), [recorded])
      }
    })

    t.test(
      `${name}: a notification with a wrong signature is 400 and not stored [6.1-card-checked 6.1-wallet-checked 6.1-gateway-checked]`,
      async (t) => {
        const good = pay(await open()).sign()
        const other = pay(await open()).sign()
        const before = await lastPosition()
        const bad = {
          ...forgeries(good),
          'signed for another body': { ...other, body: good.body },
          'written in another way': { ...good, body: good.body.replace('{', '{ ') },
          unsigned: { ...good, headers: { 'content-type': 'application/json' } },
        }
        for (const [how, notification] of Object.entries(bad))
          t.same(await send(notification), [400, 'invalid_signature'], how)
        t.equal(await lastPosition(), before)
        t.same(await send(good), [200, undefined])
      },
    )

    t.test(`${name}: 24 copies of a notification at the same moment apply once [4.12-duplicates]`, async (t) => {
      const payment = await open()
      const paid = pay(payment)
      const responses = await Promise.all(Array.from({ length: 24 }, () => send(paid.sign())))
      t.same([...new Set(responses.map(String))], ['200,'])
      t.same(await historyOf(payment.id), [recorded])
      t.equal((await storedOf(payment, paid)).length, 1)
    })

    t.test(`${name}: an unmatched notification is recorded with its fields [6.1-recorded]`, async (t) => {
      for (const [notification, data] of unmatched()) {
        t.same(await send(notification.sign()), [200, undefined])
        const expected = [{ type: 'ProviderEventReceived' }, { type: 'ProviderEventUnmatched', data }]
        matchList(t, await inboxOf(notification.id), expected, notification.type)
      }
    })
  })

t.test('a Stripe charge that only says how much was refunded has its refunds asked for', async (t) => {
  const fake = await startFakeStripe(t)
  const receiver = await receiverHarness(t, await providerFromEnv(t, fake.env))
  const { id, intent } = await receiver.open()
  for (const event of fake.pay(intent, 'succeeded')) await receiver.send(fake.signed(event))
  const refunded = fake.refund(intent, 500).find(({ type }) => type === 'charge.refunded')
  const alone = fake.event('charge.refunded', { ...refunded?.data.object, payment_intent: null, metadata: {} })
  t.same(await receiver.send(fake.signed(alone)), [200, undefined])
  t.same((await receiver.historyOf(id)).slice(-2), ['PaymentSucceeded', 'ProviderEventIgnored'])
  t.match(await receiver.paymentOf(id), { has_unread_refunds: true, refunds: [] }, 'the worker has to ask')
  t.match((await receiver.reconcile(id)).payment, {
    has_unread_refunds: false,
    refunds: [{ amount_cents: 500, status: 'succeeded' }],
  })
})

t.test('Stripe’s refund and dispute in another currency have no amount of the payment’s currency', async (t) => {
  const fake = await startFakeStripe(t)
  const receiver = await receiverHarness(t, await providerFromEnv(t, fake.env))
  const { id, intent } = await receiver.open()
  for (const event of fake.pay(intent, 'succeeded')) await receiver.send(fake.signed(event))
  const object = { amount: 5600, currency: 'jpy', payment_intent: intent }
  const refund = { ...object, id: 're_x', object: 'refund', charge: null, status: 'succeeded', metadata: {} }
  const dispute = { ...object, id: 'dp_x', object: 'dispute', status: 'lost', evidence_details: { due_by: 0 } }
  for (const event of [fake.event('refund.created', refund), fake.event('charge.dispute.created', dispute)])
    t.same(await receiver.send(fake.signed(event)), [200, undefined])
  const other = { amount_cents: null, reported_amount_cents: 5600, reported_currency: 'JPY' }
  t.match(await receiver.paymentOf(id), {
    refunds: [{ ...other, status: 'succeeded' }],
    disputes: [{ ...other, status: 'lost' }],
    attention: [{ code: 'reported_in_other_currency' }, { code: 'reported_in_other_currency' }],
  })
})
