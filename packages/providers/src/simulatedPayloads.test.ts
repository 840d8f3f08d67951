// Simulated notifications from payloads of every accepted shape.
import type { ProviderName } from '@paylog/domain/providerEvents'
import t from 'tap'
import { genericNames } from './genericEvent.ts'
import type { ProviderObject } from './providerPlugin.ts'
import { simulators } from './simulation.ts'
import { simulate, simulatedAt, simulatedId } from './testing/providerHarness.ts'

const shapes: Readonly<Record<string, (type: string, object: ProviderObject) => ProviderObject>> = {
  "an event in the interface's shape": (type, object) => ({
    id: 'evt_1',
    type,
    created: 1_767_000_000,
    data: { object },
  }),
  'a bare object': (_type, object) => object,
}
for (const [shape, payloadOf] of Object.entries(shapes))
  t.test(
    `simulate reads ${shape} for every provider, with an amount in minor units [4.9-generic 4.9-bare]`,
    async (t) => {
      const object = { id: 'pi_1', amount: 2599, currency: 'eur', status: 'Succeeded', customer: 'cus_1' }
      for (const [provider, simulator] of simulators) {
        const type = simulator.nativeType('payment_intent.succeeded') ?? ''
        const generic_type = 'payment_intent.succeeded'
        const { facts, body } = simulator.simulate({
          type,
          generic_type,
          payload: payloadOf(type, object),
          id: simulatedId,
          at: simulatedAt,
        })
        t.hasStrict(facts, {
          provider_type: type,
          generic_type,
          object_id: 'pi_1',
          amount_cents: 2599,
          currency: 'EUR',
          status: 'succeeded',
          customer_id: 'cus_1',
          occurred_at: facts.occurred_at,
        })
        t.match(body, JSON.stringify(object).slice(1, -1), `${provider}: the whole object is passed on`)
      }
    },
  )

t.test("simulate keeps the envelope and the time of an event in the provider's own shape", async (t) => {
  const time = '2025-12-29T09:20:00.000Z'
  const seconds = Date.parse(time) / 1000
  const own: Readonly<Record<ProviderName, readonly [type: string, event: ProviderObject]>> = {
    stripe: [
      'customer.subscription.updated',
      { id: 'evt_9', created: seconds, data: { object: { id: 'o' }, previous_attributes: { status: 'past_due' } } },
    ],
    paypal: ['PAYMENT.CAPTURE.COMPLETED', { id: 'WH-9', create_time: time, resource: { id: 'o' } }],
    'authorize-net': [
      'net.authorize.customer.created',
      { notificationId: 'n-9', eventDate: time, payload: { id: 'o' } },
    ],
    sandbox: ['customer.created', { id: 'evt_9', created: seconds, data: { object: { id: 'o' } } }],
  }
  for (const [provider, [type, event]] of Object.entries(own)) {
    const { facts, body } = simulate(provider, type, event)
    t.match(JSON.parse(body), event, provider)
    t.hasStrict(facts, { provider_type: type, object_id: 'o', occurred_at: time }, provider)
  }
  const [type, event] = own.stripe
  t.match(simulate('stripe', type, event).facts.subscription, { status_changed: true })
  const other = simulate('stripe', 'customer.created', { type: 'charge.failed', data: { object: { id: 'o' } } })
  t.match(JSON.parse(other.body), { type: 'customer.created' }, 'the requested type is used')
})

t.test('simulate returns null for a field that is missing, null or of another type', async (t) => {
  const odd: readonly unknown[] = [null, 'dollars', '', 'ü', 'x'.repeat(201), -1, 10.5, true, [], {}, { id: [] }]
  for (const [provider, simulator] of simulators)
    for (const generic of genericNames)
      for (const value of odd) {
        const type = simulator.nativeType(generic) ?? generic
        const fields = ['amount', 'authAmount', 'currency', 'customer', 'customer_email', 'metadata', 'subscription']
        const object = Object.fromEntries([...fields, 'id', 'profile', 'created'].map((field) => [field, value]))
        for (const payload of [object, { created: value, id: value, data: { object } }, {}]) {
          const { facts } = simulator.simulate({
            type,
            generic_type: generic,
            payload,
            id: simulatedId,
            at: simulatedAt,
          })
          const title = `${provider} ${generic} ${JSON.stringify(value)}`
          t.equal(facts.currency, null, title)
          // Any text is an e-mail if a provider states it as one.
          const isText = typeof value === 'string' && value !== ''
          t.ok([null, ...(isText ? [value] : [])].includes(facts.customer_email), title)
          t.type(facts.object_id, 'string')
        }
      }
})

t.test('simulate reads amounts of Authorize.Net’s own objects in major units', async (t) => {
  const amountOf = (object: ProviderObject) =>
    simulate('authorize-net', 'net.authorize.customer.subscription.created', object).facts.amount_cents
  t.equal(amountOf({ amount: 25 }), 25)
  t.equal(amountOf({ amount: 11.55 }), 1155)
  t.equal(amountOf({ entityName: 'subscription', amount: 25 }), 2500)
})
