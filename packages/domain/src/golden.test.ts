// Feeds the golden samples to everything in this package that reads events; see golden/README.md.
import { goldenSamples } from '@paylog/testing/goldenSamples'
import t from 'tap'
import { addressFold } from './addresses/address.ts'
import { addressEvents } from './addresses/events.ts'
import { auditCheckpointEvents, auditCheckpointFold } from './auditCheckpoint.ts'
import { auditTrailEvents, auditTrailFold } from './auditTrail.ts'
import { findCardData } from './cardNumber.ts'
import { clockEvents, clockFold } from './clock.ts'
import { defaultChoiceEvents, defaultChoiceFold } from './defaultChoice.ts'
import { erasureEvents, erasureFold } from './erasures.ts'
import type { Fold } from './events.ts'
import { guestTokenEvents, guestTokenFold } from './guestToken.ts'
import { idempotentRequestEvents, idempotentRequestFold } from './idempotentRequest.ts'
import { paymentMethodEvents } from './payment-methods/events.ts'
import { paymentMethodFold } from './payment-methods/paymentMethod.ts'
import { type PaymentEvent, paymentEvents } from './payments/events.ts'
import { paymentFold } from './payments/fold.ts'
import { paymentHistory } from './payments/history.ts'
import { productEvents } from './products/events.ts'
import { productFold } from './products/product.ts'
import { providerCustomerEvents, providerCustomerFold } from './providerCustomer.ts'
import { notificationFold, providerNotificationEvents, sharedFactEvents, sharedFactFold } from './providerEvents.ts'
import { type RecordedDomainEvent, recordedEvents } from './recordedEvents.ts'
import { setupIntentEvents, setupIntentFold } from './setupIntent.ts'
import { webhookTestEvents, webhookTestFold } from './webhookTest.ts'

const samples = goldenSamples()
const events = samples.map(({ event }) => event)

const categories = [
  category(paymentEvents, paymentFold),
  category(providerNotificationEvents, notificationFold),
  category(sharedFactEvents, sharedFactFold),
  category(guestTokenEvents, guestTokenFold),
  category(setupIntentEvents, setupIntentFold),
  category(providerCustomerEvents, providerCustomerFold),
  category(paymentMethodEvents, paymentMethodFold),
  category(addressEvents, addressFold),
  category(defaultChoiceEvents, defaultChoiceFold),
  category(productEvents, productFold),
  category(idempotentRequestEvents, idempotentRequestFold),
  category(webhookTestEvents, webhookTestFold),
  category(erasureEvents, erasureFold),
  category(auditTrailEvents, auditTrailFold),
  category(auditCheckpointEvents, auditCheckpointFold),
  category(clockEvents, clockFold),
]

function category<State, Event extends RecordedDomainEvent>(
  schemas: Readonly<Record<Event['type'], object>>,
  { initialState, evolve }: Fold<State, Event>,
) {
  const own = events.filter((event): event is Event => Object.hasOwn(schemas, event.type))
  return {
    types: Object.keys(schemas),
    /** Folds every event in every state reached by no event, one, two, or all of them. */
    foldAll() {
      const frozen = (state: State, event: Event): State => Object.freeze(evolve(state, event))
      const first = own.map((event) => frozen(initialState, event))
      const second = first.flatMap((state) => own.map((event) => frozen(state, event)))
      const states = [initialState, ...first, ...second, own.reduce(frozen, initialState)]
      for (const state of states) for (const event of own) evolve(state, event)
    },
  }
}

t.test(
  'every category is recorded, and its golden samples fold in every state without changing that state',
  async (t) => {
    t.same(categories.flatMap(({ types }) => types).toSorted(), Object.keys(recordedEvents).toSorted())
    for (const { types, foldAll } of categories) t.doesNotThrow(foldAll, types.join())
  },
)

t.test('every golden sample of a payment appears in its history, except notifications', async (t) => {
  const recorded = samples.flatMap(({ name, event, metadata }) =>
    isPaymentEvent(event) ? [{ name, ...event, metadata, position: { commit: 100n } }] : [],
  )
  for (const opening of recorded.filter(({ type }) => type === 'PaymentInitiated'))
    for (const event of recorded) {
      const [, entry] = paymentHistory([
        { ...opening, revision: 0n },
        { ...event, revision: 1n },
      ])
      if (event.type === 'ProviderNotificationReceived') t.equal(entry, undefined)
      else
        t.match(
          entry,
          { revision: 1, type: event.type, occurred_at: event.data.occurred_at, data: event.data },
          event.name,
        )
    }
})

function isPaymentEvent(event: RecordedDomainEvent): event is PaymentEvent {
  return Object.hasOwn(paymentEvents, event.type)
}

t.test('golden samples contain no card data, and only e-mails at example domains', async (t) => {
  for (const { name, data, metadata } of samples) {
    t.equal(findCardData({ data, metadata }), null, name)
    const domains = JSON.stringify(data).matchAll(/@(?<domain>[a-z0-9.-]+)/gi)
    for (const { groups } of domains) t.match(groups?.domain?.toLowerCase(), /^example\.(com|org|net)$/, name)
  }
})
