// Name lookup and payload parsing of simulations, without an event store.
import { type ProviderName, providerNames } from '@paylog/domain/providerEvents'
import { matchList } from '@paylog/testing/assertions'
import { canonicalMessages } from '@paylog/webhooks/messages/canonical'
import { canonicalNames } from '@paylog/webhooks/messages/canonicalNames'
import t from 'tap'
import { parseRequestedName, simulationFacts, simulatorOf } from './webhookTestFacts.ts'

const id = '018f0000-0000-7000-8000-000000000001'
const at = new Date('2026-01-02T03:04:05.678Z')

type Payload = Readonly<Record<string, unknown>>
/** 25.99 in each provider's format. */
const money: Readonly<Record<string, Payload>> = {
  stripe: { amount: 2599, currency: 'eur' },
  paypal: { amount: { currency_code: 'EUR', value: '25.99' } },
  'authorize-net': { authAmount: 25.99 },
  sandbox: { amount: 2599, currency: 'eur' },
} satisfies Readonly<Record<ProviderName, Payload>>
const currencies: Readonly<Record<string, string | null>> = { 'authorize-net': null }
const providers = Object.keys(money)

function simulated(provider: string, event: string, payload: Payload) {
  return simulationFacts({ provider, ...parseRequestedName(event, provider), payload, id, at })
}

function meaning(provider: string, event: string, payload: Payload) {
  return canonicalMessages({
    type: 'WebhookSimulationRequested',
    data: {
      ...simulated(provider, event, payload),
      webhook_test_id: id,
      requested_by: { id: 'user-1', type: 'customer', email: null },
      request_fingerprint: null,
      plan: { canonical_events: [], deliveries: [] },
    },
  })
}

/** Of messages whose payment has not simply succeeded. */
const statuses: Readonly<Record<string, string | null>> = {
  'payment.created': 'pending',
  'payment.attention': null,
  'payment.failed': 'failed',
}
const statusOf = (name: string) => (name in statuses ? statuses[name] : 'succeeded')

for (const provider of providers) {
  t.test(`every canonical name can be simulated for ${provider} [4.9-families]`, async (t) => {
    for (const name of canonicalNames) {
      const messages = meaning(provider, name, { id: 'object-1', ...money[provider] })
      t.ok(messages.map((message) => String(message.event)).includes(name), name)
      const message = messages.find((each) => each.event === name)
      t.hasStrict(message, { provider, user: { type: 'customer' }, owner: 'user-1', is_test: true }, name)
      if (name.startsWith('payment.')) {
        const currency = provider in currencies ? currencies[provider] : 'EUR'
        t.hasStrict(message, { payment_id: 'object-1', amount: 2599, currency, status: statusOf(name) }, name)
      }
      if (/^(subscription|membership)\./.test(name) && name !== 'membership.extended')
        t.hasStrict(message, { payment_id: null, subscription_id: 'object-1' }, name)
      if (name === 'membership.extended') t.hasStrict(message, { payment_id: 'object-1', amount: 2599 }, name)
      if (name.startsWith('customer.')) t.hasStrict(message, { payment_id: null, customer_id: 'object-1' }, name)
    }
  })
}

t.test('a generic name has the canonical meaning of its notification', async (t) => {
  const names = (provider: string, event: string, payload: Payload = {}) =>
    meaning(provider, event, { id: 'object-1', ...money[provider], ...payload }).map((message) => message.event)
  for (const provider of providers) {
    t.same(names(provider, 'payment_intent.succeeded'), ['payment.succeeded'], provider)
    t.same(names(provider, 'payment_intent.failed'), ['payment.failed'], provider)
    t.same(names(provider, 'payment_intent.canceled'), ['payment.failed'], provider)
    t.same(names(provider, 'payment_intent.processing'), [], provider)
    t.same(names(provider, 'payment_method.attached'), [], provider)
    const created = ['subscription.created', 'membership.pending']
    t.same(names(provider, 'subscription.created'), created, provider)
    const active = ['subscription.created', 'membership.activated']
    t.same(names(provider, 'subscription.created', { status: 'ACTIVE' }), active, provider)
    t.same(names(provider, 'subscription.updated'), ['subscription.updated'], provider)
    t.same(names(provider, 'subscription.deleted'), ['subscription.cancelled', 'membership.cancelled'], provider)
    t.same(names(provider, 'invoice.payment_succeeded'), ['membership.extended'], provider)
    t.same(names(provider, 'invoice.payment_failed'), ['membership.pending'], provider)
    t.same(names(provider, 'customer.created'), ['customer.created'], provider)
  }
})

t.test("a name with the provider prefix is the provider's own, even if it is generic or canonical too", async (t) => {
  const native = { canonical_name: null, provider_id: 'stripe' }
  const own = simulated('stripe', 'stripe:customer.subscription.paused', { id: 'sub_1', status: 'paused' })
  t.hasStrict(own, { ...native, provider_type: 'customer.subscription.paused', generic_type: 'subscription.updated' })
  const same = simulated('stripe', 'customer.subscription.paused', { id: 'sub_1', status: 'paused' })
  t.strictSame(same, own, 'the same with and without the prefix')
  const generic = simulated('stripe', 'stripe:subscription.updated', { id: 'sub_1' })
  t.hasStrict(generic, { ...native, provider_type: 'subscription.updated' }, 'not looked up as a generic name')
  const unknown = simulated('stripe', 'stripe:membership.extended', { id: 'in_1' })
  t.hasStrict(
    unknown,
    { ...native, provider_type: 'membership.extended', generic_type: null },
    'not looked up as a canonical name',
  )
  const transaction = 'net.authorize.payment.authcapture.created'
  t.hasStrict(simulated('authorize-net', `authorize-net:${transaction}`, { authAmount: 7.25 }), {
    provider_type: transaction,
    generic_type: 'payment_intent.succeeded',
    amount_cents: 725,
  })
})

t.test('a name that is both generic and canonical is simulated as the notification', async (t) => {
  const facts = simulated('stripe', 'customer.created', { id: 'cus_1', email: 'ann@example.com' })
  t.hasStrict(facts, { canonical_name: null, provider_type: 'customer.created', customer_email: 'ann@example.com' })
  const both = simulated('paypal', 'subscription.updated', { id: 'I-1' })
  t.hasStrict(both, { canonical_name: null, provider_type: 'BILLING.SUBSCRIPTION.UPDATED' })
})

t.test('an unknown name goes only to raw endpoints', async (t) => {
  for (const event of ['charge.some_future_thing', 'ping', 'v2.core.account[configuration.merchant].updated']) {
    const facts = simulated('stripe', event, { id: 'object-1' })
    t.hasStrict(facts, { canonical_name: null, provider_type: event, generic_type: null }, event)
    t.same(meaning('stripe', event, { id: 'object-1' }), [])
  }
  t.hasStrict(simulated('paypal', 'PAYMENT.PAYOUTS-ITEM.SUCCEEDED', {}), { generic_type: null, canonical_name: null })
})

t.test("a malformed name and another provider's name are rejected", async (t) => {
  const malformed = [' ', 'a b', 'payment.*', 'all,payment.failed', '.', 'payment.', '.payment', 'a..b', 'stripe:']
  const further = [':a', 'Stripe:a', 'stripe:stripe:a', 'käse', 'a/b', 'a\u0000b', '{}', 'x'.repeat(201)]
  for (const event of [...malformed, ...further]) {
    const error = { code: 'invalid_request', details: { fields: [{ field: 'event' }] } }
    t.throws(() => parseRequestedName(event, 'stripe'), error, JSON.stringify(event))
  }
  t.throws(() => parseRequestedName('paypal:PAYMENT.CAPTURE.COMPLETED', 'stripe'), /another provider/)
  t.strictSame(parseRequestedName('x'.repeat(200), 'stripe'), {
    name: 'x'.repeat(200),
    isNative: false,
  })
})

t.test('a failed payment with the status canceled is reported as canceled', async (t) => {
  const canceled = { ...money.stripe, status: 'canceled' }
  matchList(t, meaning('stripe', 'payment.failed', canceled), [{ event: 'payment.failed', status: 'canceled' }])
})

const shapes: Readonly<Record<string, readonly [payload: Payload, amount: number | null, currency: string | null]>> = {
  'a few fields': [{ amount: 2599 }, 2599, null],
  'no field at all': [{}, null, null],
  nulls: [{ id: null, amount: null, currency: null, status: null, customer: null }, null, null],
  'fields of other types': [{ amount: 'a lot', currency: 17, customer: [], created: 'today' }, null, null],
}
for (const [shape, [payload, amount, currency]] of Object.entries(shapes))
  t.test(
    `a payload of ${shape} gives a message for every provider, with null for missing fields [4.9-nulls]`,
    async (t) => {
      for (const provider of providers)
        for (const event of ['payment.succeeded', 'payment_intent.succeeded'])
          matchList(t, meaning(provider, event, payload), [
            {
              event: 'payment.succeeded',
              provider,
              amount,
              currency,
              payment_id: 'id' in payload && payload.id ? /./ : /^test_/,
            },
          ])
    },
  )

t.test('a simulation for an unknown provider is rejected with the known names [10.4-simulate-any]', async (t) => {
  t.throws(() => simulatorOf('nobody'), {
    code: 'provider_not_enabled',
    details: { known: [...providerNames] },
  })
  t.throws(() => simulatorOf('constructor'), { code: 'provider_not_enabled' })
})
