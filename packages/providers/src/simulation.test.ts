// Simulated notifications, checked with the providers' own readers.
import type { ProviderName } from '@paylog/domain/providerEvents'
import t from 'tap'
import { genericNames } from './genericEvent.ts'
import type { Provider } from './provider.ts'
import type { ProviderObject } from './providerPlugin.ts'
import { createSandbox } from './sandbox/sandbox.ts'
import { simulators } from './simulation.ts'
import { startFakes } from './testing/contractOperations.ts'
import { connect, simulate, simulatedAt, simulatedId, simulatorOf } from './testing/providerHarness.ts'

const providers: readonly Provider[] = [
  ...(await Promise.all(Object.values(startFakes).map(async (start) => connect(t, (await start(t)).env)))),
  createSandbox({ webhookSecrets: ['x'.repeat(16)] }),
]

/** 25.99 in the account's currency, in each provider's format. */
const money: Readonly<Record<string, ProviderObject>> = {
  stripe: { amount: 2599, currency: 'eur' },
  paypal: { amount: { currency_code: 'EUR', value: '25.99' } },
  'authorize-net': { authAmount: 25.99 },
  sandbox: { amount: 2599, currency: 'eur' },
} satisfies Readonly<Record<ProviderName, unknown>>

const parsed = (provider: string, type: string, object: ProviderObject) =>
  JSON.parse(simulate(provider, type, object).body)

t.test('there is a simulator for every provider with a receiver', async (t) => {
  t.same(
    [...simulators.keys()],
    providers.map((provider) => provider.id),
  )
})

for (const provider of providers) {
  t.test(
    `each generic type maps to a type of ${provider.id} that is read as the same generic type [6.1-own-names]`,
    async (t) => {
      const simulator = simulatorOf(provider.id)
      for (const generic of genericNames) {
        const type = simulator.nativeType(generic) ?? generic
        const object = { id: 'object-1', ...(generic.startsWith('payment_intent.') && money[provider.id]) }
        const { body, facts } = simulator.simulate({
          type,
          generic_type: generic,
          payload: object,
          id: simulatedId,
          at: simulatedAt,
        })
        t.hasStrict(facts, { provider_type: type, generic_type: generic, object_id: 'object-1' }, generic)
        t.hasStrict(provider.readNotification(Buffer.from(body)), facts, 'by the receiver')
      }
    },
  )
}

t.test('each provider has a native type for each generic type that it supports', async (t) => {
  const unnamed = (provider: string) =>
    genericNames.filter((generic) => simulatorOf(provider).nativeType(generic) === undefined)
  t.same(unnamed('stripe'), [])
  t.same(unnamed('sandbox'), [])
  t.same(unnamed('paypal'), [
    'payment_intent.requires_action',
    'payment_method.updated',
    'subscription.trial_will_end',
    'customer.created',
    'customer.updated',
    'customer.deleted',
  ])
  t.same(unnamed('authorize-net'), ['payment_intent.created', 'payment_intent.requires_action'])
  const stripe = genericNames.filter((generic) => simulatorOf('stripe').nativeType(generic) !== generic)
  t.same(
    stripe.map((generic) => simulatorOf('stripe').nativeType(generic)),
    [
      'payment_intent.payment_failed',
      'customer.subscription.created',
      'customer.subscription.updated',
      'customer.subscription.deleted',
      'customer.subscription.trial_will_end',
    ],
    'Stripe uses the other types unchanged',
  )
  t.equal(simulatorOf('stripe').nativeType('toString'), undefined)
})

t.test('a simulated body has the envelope of its provider', async (t) => {
  const object = { id: 'object-1', note: 'unchanged' }
  t.strictSame(parsed('stripe', 'charge.captured', object), {
    id: `evt_test_${simulatedId}`,
    object: 'event',
    api_version: null,
    created: 1_767_323_045,
    data: { object },
    livemode: false,
    pending_webhooks: 1,
    request: { id: null, idempotency_key: null },
    type: 'charge.captured',
  })
  t.strictSame(parsed('paypal', 'PAYMENT.CAPTURE.COMPLETED', object), {
    id: `WH-test_${simulatedId}`,
    event_version: '1.0',
    create_time: '2026-01-02T03:04:05.678Z',
    resource_type: 'capture',
    event_type: 'PAYMENT.CAPTURE.COMPLETED',
    summary: 'A simulated notification for testing a webhook',
    resource: object,
    links: [],
  })
  t.strictSame(parsed('authorize-net', 'net.authorize.customer.subscription.created', object), {
    notificationId: simulatedId,
    eventType: 'net.authorize.customer.subscription.created',
    eventDate: '2026-01-02T03:04:05.678Z',
    webhookId: simulatedId,
    payload: { entityName: 'subscription', ...object },
  })
  t.strictSame(parsed('sandbox', 'customer.created', object), {
    id: `evt_test_${simulatedId}`,
    type: 'customer.created',
    provider: 'sandbox',
    data: { object },
    created: 1_767_323_045,
  })
})

t.test('the simulated object kind of PayPal and Authorize.Net follows from the event type', async (t) => {
  const resourceTypes = {
    'PAYMENT.CAPTURE.REFUNDED': 'refund',
    'PAYMENT.CAPTURE.REVERSED': 'refund',
    'PAYMENT.CAPTURE.DENIED': 'capture',
    'PAYMENT.AUTHORIZATION.VOIDED': 'authorization',
    'PAYMENT.SALE.COMPLETED': 'sale',
    'CHECKOUT.ORDER.APPROVED': 'checkout-order',
    'CHECKOUT.PAYMENT-APPROVAL.REVERSED': undefined,
    'BILLING.SUBSCRIPTION.CREATED': 'subscription',
    'VAULT.PAYMENT-TOKEN.CREATED': 'payment_token',
    'CUSTOMER.DISPUTE.CREATED': 'dispute',
  }
  for (const [type, expected] of Object.entries(resourceTypes))
    t.equal(parsed('paypal', type, {}).resource_type, expected, type)
  const entityNames = {
    'net.authorize.payment.void.created': 'transaction',
    'net.authorize.customer.subscription.expired': 'subscription',
    'net.authorize.customer.paymentProfile.created': 'customerPaymentProfile',
    'net.authorize.customer.created': 'customerProfile',
    'net.authorize.customerless.thing': undefined,
  }
  for (const [type, expected] of Object.entries(entityNames))
    t.equal(parsed('authorize-net', type, {}).payload.entityName, expected, type)
})

t.test('a simulated object without an id gets one, and keeps its own', async (t) => {
  for (const [provider, type] of [
    ['stripe', 'customer.created'],
    ['paypal', 'VAULT.PAYMENT-TOKEN.CREATED'],
    ['authorize-net', 'net.authorize.customer.created'],
    ['sandbox', 'customer.created'],
  ] as const) {
    t.equal(simulate(provider, type, {}).facts.object_id, `test_${simulatedId}`, provider)
    t.equal(simulate(provider, type, { id: 'mine' }).facts.object_id, 'mine', provider)
  }
  const dispute = simulate('paypal', 'CUSTOMER.DISPUTE.CREATED', { dispute_id: 'PP-D-1' })
  t.equal(dispute.facts.object_id, 'PP-D-1')
  const reversed = simulate('paypal', 'CHECKOUT.PAYMENT-APPROVAL.REVERSED', { order_id: 'order-1' })
  t.equal(reversed.facts.object_id, 'order-1')
})

t.test('a simulated generic type gets the fields it needs, and no others', async (t) => {
  const generic = (provider: string, name: string, object: ProviderObject) => {
    const type = simulatorOf(provider).nativeType(name) ?? name
    const { generic_type, subscription } = simulate(provider, type, object, name).facts
    return { generic_type, subscription_id: subscription?.subscription_id, isFirst: subscription?.is_first_invoice }
  }
  const renewal = { generic_type: 'invoice.payment_succeeded', isFirst: false }
  for (const provider of ['paypal', 'authorize-net'])
    t.same(generic(provider, 'invoice.payment_succeeded', {}), {
      ...renewal,
      subscription_id: `test_sub_${simulatedId}`,
    })
  const agreement = { billing_agreement_id: 'I-1' }
  t.same(generic('paypal', 'invoice.payment_succeeded', agreement), { ...renewal, subscription_id: 'I-1' })
  const first = { subscription: { id: '4415473', payNum: 1 } }
  t.same(generic('authorize-net', 'invoice.payment_succeeded', first), {
    ...renewal,
    subscription_id: '4415473',
    isFirst: true,
  })

  const sale = simulate('paypal', 'PAYMENT.SALE.COMPLETED', {})
  t.equal(sale.facts.generic_type, null, 'a sale named by its native type has no subscription')
  const transaction = (more: ProviderObject) =>
    simulate('authorize-net', 'net.authorize.payment.authcapture.created', more).facts.generic_type
  t.equal(transaction({}), 'payment_intent.succeeded', 'approved by default')
  t.equal(transaction({ responseCode: 2 }), 'payment_intent.failed', 'declined by its response code')
  t.equal(transaction({ responseCode: 4 }), 'payment_intent.processing')
  const held = JSON.parse(simulate('authorize-net', 'net.authorize.payment.fraud.held', {}).body)
  t.notOk('responseCode' in held.payload, 'no response code where none is needed')
})

t.test('a simulated notification of an unknown type has no generic type', async (t) => {
  for (const [provider] of simulators) {
    const { facts } = simulate(provider, 'some.future_thing', { id: 'object-1' })
    t.hasStrict(facts, { provider_type: 'some.future_thing', generic_type: null, object_id: 'object-1' }, provider)
  }
})
