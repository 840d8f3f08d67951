import t from 'tap'
import { Compile } from 'typebox/compile'
import { EventMetadata } from './events.ts'
import { providerCustomerFold } from './providerCustomer.ts'
import { notificationFold } from './providerEvents.ts'
import { setupIntentFold } from './setupIntent.ts'

const occurred_at = '2026-01-01T00:00:00.000Z'
const notification = {
  provider_id: 'sandbox',
  provider_event_id: 'evt_1',
  provider_type: 'customer.created',
  generic_type: 'customer.created',
  provider_time: occurred_at,
  occurred_at,
}
const subject = { object_id: 'cus_1', amount_cents: null, currency: null, status: null }

t.test('a notification is received, then settled by any of its other events', async (t) => {
  const { initialState, evolve } = notificationFold
  t.same(initialState, { state: 'none' })
  const received = evolve(initialState, {
    type: 'ProviderEventReceived',
    data: { ...notification, body: '{}' },
  })
  t.same(received, { state: 'received' })
  const unmatched = { ...notification, ...subject, customer_id: 'cus_1', customer_email: null, subscription: null }
  t.same(evolve(received, { type: 'ProviderEventUnmatched', data: unmatched }), { state: 'settled' })
  const applied = {
    ...notification,
    ...subject,
    payment_id: '018f0000-0000-7000-8000-000000000001',
    payer: { id: null, type: 'guest', email: null },
    project_id: null,
    is_foreign_intent: false,
  }
  t.same(evolve(received, { type: 'ProviderEventApplied', data: applied }), { state: 'settled' })
  const appliedToMethod = { ...notification, object_id: 'pm_1', payment_method_id: applied.payment_id }
  t.same(evolve(received, { type: 'ProviderEventAppliedToMethod', data: appliedToMethod }), { state: 'settled' })
})

t.test('providerCustomerFold counts the customers and returns the one that was linked last', async (t) => {
  const data = { provider_id: 'stripe', user_id: 'u1', provider_customer_id: 'cus_2', occurred_at }
  t.same(providerCustomerFold.initialState, { provider_customer_id: null, generation: 0 })
  const first = { provider_customer_id: 'cus_1', generation: 1 }
  const second = { provider_customer_id: 'cus_2', generation: 2 }
  t.same(providerCustomerFold.evolve(first, { type: 'ProviderCustomerLinked', data }), second)
})

t.test('providerCustomerFold has no customer after its deletion, and counts on', async (t) => {
  const { evolve } = providerCustomerFold
  const data = { provider_id: 'stripe', user_id: 'u1', provider_customer_id: 'cus_2', occurred_at }
  const second = { provider_customer_id: 'cus_2', generation: 2 }
  const deleted = { provider_customer_id: null, generation: 2 }
  t.same(evolve(second, { type: 'ProviderCustomerDeleted', data }), deleted)
  const former = { ...data, provider_customer_id: 'cus_1' }
  t.same(evolve(second, { type: 'ProviderCustomerDeleted', data: former }), second, 'another one was deleted')
  t.same(evolve(second, { type: 'ProviderCustomerDeletionRequested', data }), second)
  t.match(evolve(deleted, { type: 'ProviderCustomerLinked', data: former }), { generation: 3 })
})

t.test('setupIntentFold returns the created setup intent', async (t) => {
  const data = {
    setup_intent_id: '018f0000-0000-7000-8000-000000000002',
    occurred_at,
    provider_id: 'stripe',
    provider_setup_intent_id: 'seti_1',
    client_secret: 'seti_1_secret',
    provider_customer_id: null,
    user_id: 'u1',
    request_fingerprint: null,
  }
  t.equal(setupIntentFold.initialState, null)
  t.same(setupIntentFold.evolve(null, { type: 'SetupIntentCreated', data }), data)
})

t.test('event metadata requires correlationId, causationId and actor', async (t) => {
  const validator = Compile(EventMetadata)
  const metadata = { correlationId: 'req-1', causationId: 'cmd-1', actor: 'worker' }
  t.ok(validator.Check(metadata))
  t.ok(validator.Check({ ...metadata, requestId: 'req-1' }))
  for (const field of Object.keys(metadata)) t.notOk(validator.Check({ ...metadata, [field]: undefined }), field)
})
