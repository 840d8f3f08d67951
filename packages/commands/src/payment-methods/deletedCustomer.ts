// What follows when a provider says that a customer was deleted there: the customer's saved methods are removed here, and the
// user's next method goes to a new customer.
import type { EventMetadata, LogPosition } from '@paylog/domain/events'
import {
  type PaymentMethod,
  paymentMethodFold,
  removePaymentMethod,
} from '@paylog/domain/payment-methods/paymentMethod'
import { reportedDeletionFold } from '@paylog/domain/providerCustomer'
import type { EventStore } from '@paylog/event-store/eventStore'
import { customerDeletionStream, paymentMethodStream } from '@paylog/event-store/streamName'
import { ProviderError, type ProviderNotification } from '@paylog/providers/provider'
import { customerMissing } from '@paylog/providers/providerMethods'
import type { Workflow } from '../context.ts'
import { paymentMethodId } from './savedMethod.ts'

type Customer = { readonly provider_id: string; readonly provider_customer_id: string }

/**
 * Records a reported deletion, and removes the customer's saved methods. Does nothing for other notifications. May be repeated.
 * @throws DomainError `event_store_unavailable`, `concurrent_modification`
 */
export async function applyCustomerDeletion(
  workflow: Workflow,
  provider_id: string,
  { generic_type, object_id, customer_id, provider_event_id }: ProviderNotification,
  metadata: EventMetadata,
): Promise<void> {
  const provider_customer_id = object_id ?? customer_id
  if (generic_type !== 'customer.deleted' || provider_customer_id === null) return
  const { store, now } = workflow
  const customer = { provider_id, provider_customer_id }
  // First: a method that is being saved meanwhile is either found below, or finds this.
  await store.handle({
    stream: customerDeletionStream(provider_id, provider_customer_id),
    fold: reportedDeletionFold,
    decide: (reported) =>
      reported?.provider_event_id === provider_event_id
        ? []
        : [
            {
              type: 'ProviderCustomerDeletionReported',
              data: { ...customer, provider_event_id, occurred_at: now().toISOString() },
            },
          ],
    metadata,
  })
  for (const id of await methodsOf(store, customer)) await removeMethodOf(workflow, customer, id, metadata)
}

function removeMethodOf({ store, now }: Workflow, customer: Customer, id: string, metadata: EventMetadata) {
  return store.handle({
    stream: paymentMethodStream(id),
    fold: paymentMethodFold,
    decide: (state) =>
      state.status === 'saved' && state.provider_customer_id === customer.provider_customer_id
        ? removePaymentMethod({ occurred_at: now().toISOString(), by: 'provider' }, state)
        : [],
    metadata,
  })
}

/** When the provider last said that it has deleted the customer; null if it never did. */
export async function reportedDeletionOf({ store }: Workflow, customer: Customer): Promise<string | null> {
  const stream = customerDeletionStream(customer.provider_id, customer.provider_customer_id)
  return (await store.load(stream, reportedDeletionFold)).state?.occurred_at ?? null
}

/**
 * Removes a method again whose customer was deleted while it was saved.
 * @param since when saving it started
 * @throws ProviderError `customerMissing`, after which the request may be repeated
 */
export async function requireCustomer(
  workflow: Workflow,
  method: Pick<PaymentMethod, 'provider_id' | 'provider_method_id' | 'provider_customer_id'>,
  since: string,
  metadata: EventMetadata,
): Promise<void> {
  const { provider_id, provider_method_id, provider_customer_id } = method
  if (provider_customer_id === null) return
  const customer = { provider_id, provider_customer_id }
  const reported = await reportedDeletionOf(workflow, customer)
  if (reported === null || reported < since) return
  await removeMethodOf(workflow, customer, paymentMethodId(provider_id, provider_method_id), metadata)
  throw new ProviderError('rejected', customerMissing, 'The customer was deleted at the provider; try again')
}

/** The methods that were added for each customer, up to a position of the log. */
type Index = { readonly methods: Map<string, string[]>; position: LogPosition | undefined; reading: Promise<void> }

/** Of each event store. Read once, and then continued: other streams do not say which methods a customer has. */
const indexes = new WeakMap<EventStore, Index>()

const keyOf = ({ provider_id, provider_customer_id }: Customer) => `${provider_id}:${provider_customer_id}`

/** The ids of the methods that were ever added for a customer, up to the present end of the log. */
async function methodsOf(store: EventStore, customer: Customer): Promise<readonly string[]> {
  const index = indexes.get(store) ?? { methods: new Map(), position: undefined, reading: Promise.resolve() }
  indexes.set(store, index)
  index.reading = index.reading.catch(() => undefined).then(() => readOn(store, index))
  await index.reading
  return index.methods.get(keyOf(customer)) ?? []
}

async function readOn(store: EventStore, index: Index): Promise<void> {
  const range = { prefixes: ['paymentMethod-'], from: index.position, opens: new Map() }
  for await (const { events, position } of store.readBatches(range)) {
    for (const { type, data } of events) {
      if (type !== 'PaymentMethodAdded' || data.provider_customer_id === null) continue
      const { provider_id, provider_customer_id, payment_method_id } = data
      const key = keyOf({ provider_id, provider_customer_id })
      const known = index.methods.get(key)
      if (known === undefined) index.methods.set(key, [payment_method_id])
      else if (!known.includes(payment_method_id)) known.push(payment_method_id)
    }
    index.position = position
  }
}
