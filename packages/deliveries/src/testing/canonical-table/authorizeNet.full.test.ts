import { connectAuthorizeNet } from '@paylog/providers/testing/providerHarness'
import { startFakeAuthorizeNet } from '@paylog/testing/authorize-net/fakeAuthorizeNet'
import t from 'tap'
import * as bodies from './authorizeNetFixtures.ts'
import {
  createCanonicalTableHarness,
  foreignLegacyMessage,
  foreignMessage,
  type Message,
  noMoney,
} from './canonicalTableHarness.ts'

const harness = await createCanonicalTableHarness(t)
const fake = await startFakeAuthorizeNet(t)
const gateway = connectAuthorizeNet(t, fake, { timeoutMs: 15_000 })

type Event = (typeof fake.events)[number]
/** The time of an event from the fake, whose timestamps have seven decimals, in milliseconds. */
const notifiedAt = ({ body }: Event) => new Date(JSON.parse(body).eventDate).toISOString()

const money = { amount: 550, currency: 'USD' }
const bo = { id: null, email: 'bo@example.com' }

let orders = 0
/** Charges a card for another system, and returns the transaction. */
const charge = (more: Parameters<typeof fake.pay>[1] = {}) =>
  fake.pay({ invoiceNumber: `order-${++orders}`, amount_cents: 550 }, { email: 'bo@example.com', ...more }).transId

type Row = {
  /** Without the common prefix. */
  readonly type: string
  readonly story?: string
  /** Triggers the notification. @returns the id of its transaction, subscription or customer */
  readonly trigger: () => string
  readonly messages: (id: string) => { readonly canonical: readonly Message[]; readonly legacy: readonly Message[] }
}

/** @param generic the end of the generic name and Paylog's status; `null` if only raw endpoints get it */
const payment = (
  type: string,
  [generic, status, canonical]: readonly [string, string, string | null] | readonly [null],
  trigger: () => string,
  paid = money,
): Row => ({
  type: `payment.${type}`,
  trigger,
  messages: (payment_id) => {
    if (generic === null) return { canonical: [], legacy: [] }
    return {
      canonical: canonical === null ? [] : [foreignMessage(canonical, bo, { payment_id, ...paid, status })],
      legacy: [foreignLegacyMessage(`payment_intent.${generic}`, bo, { payment_id, ...paid, status })],
    }
  },
})

const afterwards = (transId: string, ...further: readonly ((transId: string) => unknown)[]) => {
  for (const step of further) step(transId)
  return transId
}
const rejectedEvents = (outcome: 'declined' | 'error') => () => {
  const transId = charge({ outcome })
  fake.notify('payment.authcapture.created', bodies.declinedTransaction(transId, outcome === 'declined' ? 2 : 3))
  return transId
}

const payments: readonly Row[] = [
  payment('authcapture.created', ['succeeded', 'succeeded', 'payment.succeeded'], () => charge()),
  payment('priorAuthCapture.created', ['succeeded', 'succeeded', 'payment.succeeded'], () =>
    afterwards(charge({ authOnly: true }), fake.capture),
  ),
  payment('capture.created', ['succeeded', 'succeeded', 'payment.succeeded'], () =>
    afterwards(charge(), (transId) => fake.notify('payment.capture.created', { ...approved, id: transId })),
  ),
  payment('fraud.approved', ['succeeded', 'succeeded', 'payment.succeeded'], () =>
    afterwards(charge({ outcome: 'held' }), fake.approveHeld),
  ),
  payment('fraud.held', ['processing', 'processing', null], () => charge({ outcome: 'held' })),
  payment('authorization.created', ['processing', 'processing', null], () => charge({ authOnly: true })),
  payment('fraud.declined', ['failed', 'failed', 'payment.failed'], () =>
    afterwards(charge({ outcome: 'held' }), fake.declineHeld),
  ),
  payment('authcapture.created', ['failed', 'failed', 'payment.failed'], rejectedEvents('declined')),
  payment('authcapture.created', ['failed', 'failed', 'payment.failed'], rejectedEvents('error')),
  payment('void.created', ['canceled', 'canceled', 'payment.failed'], () => afterwards(charge(), fake.voidTransaction)),
  payment('refund.created', [null], () => fake.refund(charge()).transId),
]

const approved = { responseCode: 1, authCode: 'Z3PV5H', avsResponse: 'Y', authAmount: 5.5, entityName: 'transaction' }

/** The payment of a subscription's invoice, which only the transaction's details show. */
const renewal = (payNum: number): Row => ({
  type: 'payment.authcapture.created',
  story: ` as payment ${payNum} of a subscription`,
  trigger: () => charge({ subscription: { id: 4_415_473, payNum } }),
  messages: (payment_id) => {
    const fields = { payment_id, ...money, status: 'capturedpendingsettlement' }
    return {
      canonical:
        payNum === 1 ? [] : [foreignMessage('membership.extended', bo, { ...fields, subscription_id: '4415473' })],
      legacy: [foreignLegacyMessage('invoice.payment_succeeded', bo, fields)],
    }
  },
})

const customer = { id: '394', email: null }
const notified = (
  type: string,
  payload: Readonly<Record<string, unknown>> & { readonly id: string },
  messages: ReturnType<Row['messages']>,
): Row => ({
  type,
  trigger: () => {
    fake.notify(type, payload)
    return payload.id
  },
  messages: () => messages,
})
const price = { amount: 1155, currency: null }
const subscribed = (kind: string, [generic, status]: readonly [string, string], names: string): Row =>
  notified(`customer.subscription.${kind}`, bodies.subscription(status), {
    canonical: names
      .split(' ')
      .map((name) =>
        foreignMessage(name, customer, { ...price, status, subscription_id: '4415473', customer_id: '394' }),
      ),
    legacy: [foreignLegacyMessage(generic, customer, { ...price, status })],
  })
const unknownCustomer = { id: null, email: null }
const short = (
  kind: string,
  [generic, status]: readonly [string, string | null],
  names: string,
  fields = status,
): Row =>
  notified(`customer.subscription.${kind}`, bodies.shortSubscription(), {
    canonical: names
      .split(' ')
      .map((name) => foreignMessage(name, unknownCustomer, { ...noMoney, status: fields, subscription_id: '4415473' })),
    legacy: [foreignLegacyMessage(generic, unknownCustomer, { ...noMoney, status })],
  })
const gone = 'subscription.cancelled membership.cancelled'
const subscriptions: readonly Row[] = [
  renewal(1),
  renewal(2),
  subscribed('created', ['subscription.created', 'active'], 'subscription.created membership.activated'),
  subscribed('updated', ['subscription.updated', 'active'], 'subscription.updated'),
  subscribed('suspended', ['subscription.updated', 'suspended'], 'subscription.updated membership.pending'),
  short('suspended', ['subscription.updated', 'suspended'], 'subscription.updated membership.pending'),
  subscribed('cancelled', ['subscription.deleted', 'canceled'], gone),
  subscribed('terminated', ['subscription.deleted', 'terminated'], gone),
  subscribed('expired', ['subscription.deleted', 'expired'], gone),
  short('expired', ['subscription.deleted', null], gone, 'canceled'),
  subscribed('expiring', ['subscription.trial_will_end', 'active'], 'subscription.updated'),
  subscribed('failed', ['invoice.payment_failed', 'active'], 'membership.pending'),
]

const legacyOf = (event: string) => [foreignLegacyMessage(event, customer, { ...noMoney, status: null })]
const ofCustomer = { ...noMoney, customer_id: '394' }
const customers: readonly Row[] = [
  notified('customer.created', bodies.customer(), {
    canonical: [foreignMessage('customer.created', customer, { ...ofCustomer, status: null })],
    legacy: legacyOf('customer.created'),
  }),
  notified('customer.updated', bodies.customer(), {
    canonical: [foreignMessage('customer.updated', customer, { ...ofCustomer, status: null })],
    legacy: legacyOf('customer.updated'),
  }),
  notified('customer.deleted', bodies.customer(), {
    canonical: [foreignMessage('customer.updated', customer, { ...ofCustomer, status: 'deleted' })],
    legacy: legacyOf('customer.deleted'),
  }),
  ...(
    [
      ['created', 'attached'],
      ['updated', 'updated'],
      ['deleted', 'detached'],
    ] as const
  ).map(([kind, generic]) =>
    notified(`customer.paymentProfile.${kind}`, bodies.paymentProfile(), {
      canonical: [],
      legacy: legacyOf(`payment_method.${generic}`),
    }),
  ),
  notified('customer.merged', { entityName: 'customerProfile', id: '394' }, { canonical: [], legacy: [] }),
]

for (const { type, story = '', trigger, messages } of [...payments, ...subscriptions, ...customers])
  t.test(`Authorize.Net: net.authorize.${type}${story} sends the webhooks of the canonical table`, async (t) => {
    const id = trigger()
    const event = fake.events.at(-1)
    if (event?.eventType !== `net.authorize.${type}`) throw new Error(`Unexpected event ${event?.eventType}`)
    const expected = { provider_type: `net.authorize.${type}`, occurred_at: notifiedAt(event) }
    await harness.check(t, gateway, fake.signed(event), { ...expected, ...messages(id) })
  })

t.test('Authorize.Net: a notification received three times is delivered once', async (t) => {
  const payment_id = charge()
  const event = fake.events.at(-1)
  if (event === undefined) throw new Error('The fake has no event')
  const fields = { payment_id, ...money, status: 'succeeded' }
  const expected = {
    provider_type: 'net.authorize.payment.authcapture.created',
    occurred_at: notifiedAt(event),
    canonical: [foreignMessage('payment.succeeded', bo, fields)],
    legacy: [foreignLegacyMessage('payment_intent.succeeded', bo, fields)],
  }
  await harness.check(t, gateway, fake.signed(event), expected, 3)
})
