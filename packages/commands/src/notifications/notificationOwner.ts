// Whose a notification is: the payment or saved method that it is about, and the person whose data it holds. Recording, applying and
// erasing ask this one question.
import { randomUUIDv7 } from 'node:crypto'
import { guestOwner } from '@paylog/domain/actor'
import { erasureFold } from '@paylog/domain/erasures'
import type { EventMetadata } from '@paylog/domain/events'
import { type PaymentMethodState, paymentMethodFold } from '@paylog/domain/payment-methods/paymentMethod'
import { payerOf } from '@paylog/domain/payments/fold'
import { isAppliedBefore, isForeignIntent, isIntentUndecided } from '@paylog/domain/payments/statusReports'
import { type Subject, subjectNamed } from '@paylog/domain/personalData'
import { customerDeletionFold } from '@paylog/domain/providerCustomer'
import { keyOfStream, type OwnerKeys } from '@paylog/event-store/codec/partKeys'
import { type LoadedState, newStream } from '@paylog/event-store/eventStore'
import {
  customerDeletionStream,
  erasureStream,
  providerEventStream,
  type StreamName,
} from '@paylog/event-store/streamName'
import { type Provider, ProviderError, type ProviderNotification } from '@paylog/providers/provider'
import type { Workflow } from '../context.ts'
import { loadMethod, paymentMethodId } from '../payment-methods/savedMethod.ts'
import { type OwnPayment, ownPayment } from '../payments/applyToPayment.ts'

type Person = {
  /** Null when it is not known whose data the notification holds. */
  readonly subject: Subject | null
  /** Their keys, if something of theirs is recorded already. */
  readonly owners: OwnerKeys
  /**
   * The person was erased and we deleted the customer, which is what such notifications are about. They are recorded without
   * personal data: whatever they say of the person would outlive the erasure.
   */
  readonly isErased: boolean
}

export type NotificationOwner = Person &
  (
    | { readonly kind: 'payment'; readonly payment: OwnPayment }
    | { readonly kind: 'method'; readonly payment_method_id: string; readonly method: LoadedState<PaymentMethodState> }
    /** Of an object that we did not create. Its customer may be one of ours. */
    | { readonly kind: 'foreign' }
    /** Only the provider can say it. Until then the notification has a separate key, which can be destroyed afterwards. */
    | { readonly kind: 'unknown' }
  )

const methodTypes: ReadonlySet<string | null> = new Set(
  ['attached', 'updated', 'detached'].map((what) => `payment_method.${what}`),
)

/**
 * Whose a notification is by its body alone. A payment must follow from the body: then every copy of a notification comes to
 * the same stream, which knows the first one for ever.
 * @throws DomainError `event_store_unavailable`
 */
export async function ownerByBody(
  workflow: Workflow,
  provider: Provider,
  notification: ProviderNotification,
): Promise<NotificationOwner> {
  const { report, referenced_payment_id, provider_event_id } = notification
  if (report) {
    const named = await ownPayment(workflow, provider, referenced_payment_id)
    // A repeated one stays the payment's, also when its intent was replaced since.
    const isOwn =
      named && (isAppliedBefore({ provider_event_id }, named.state) || !isForeignIntent(report, named.state))
    return isOwn ? ownerOfPayment(named) : unknownOwner(provider, notification)
  }
  const owner = await ownerWithoutPayment(workflow, provider, notification)
  return owner.subject || owner.isErased ? owner : unknownOwner(provider, notification)
}

export const unknownOwner = (provider: Provider, { provider_event_id }: ProviderNotification): NotificationOwner => ({
  kind: 'unknown',
  subject: subjectNamed(keyOfStream(providerEventStream(provider.id, provider_event_id))),
  owners: {},
  isErased: false,
})

/**
 * Whose a notification is by the provider's own books, which decide about an intent that is not the named payment's.
 * @param notification complete, as far as the provider could be asked
 * @throws ProviderError when a query to the provider fails, or the payment's intent is not recorded yet; DomainError
 *   `event_store_unavailable`
 */
export async function ownerByBooks(
  workflow: Workflow,
  provider: Provider,
  notification: ProviderNotification,
): Promise<NotificationOwner> {
  const { report, referenced_payment_id } = notification
  if (!report) return ownerWithoutPayment(workflow, provider, notification)
  const named = await ownPayment(workflow, provider, referenced_payment_id)
  const isNamed = named && !isForeignIntent(report, named.state)
  const found = isNamed ? named : await ownPayment(workflow, provider, await provider.findPaymentId(report))
  const payment = found ?? named
  if (!payment) return ownerWithoutPayment(workflow, provider, notification)
  // The reconciler tries again, until the outcome of the create call is known.
  if (isIntentUndecided(report, payment.state))
    throw new ProviderError('unknown', 'intent_not_recorded', 'The intent of the payment is not recorded yet')
  return ownerOfPayment(payment)
}

const ownerOfPayment = (payment: OwnPayment): NotificationOwner => ({
  kind: 'payment',
  payment,
  subject: payerOf(payment.state),
  owners: payment.owners ?? {},
  isErased: false,
})

/** Of a notification that is about none of our payments. The owner of a method of ours is known, others by e-mail. */
async function ownerWithoutPayment(
  workflow: Workflow,
  provider: Provider,
  { generic_type, object_id, customer_id, customer_email }: ProviderNotification,
): Promise<NotificationOwner> {
  const isOfMethod = methodTypes.has(generic_type) && object_id !== null
  const payment_method_id = isOfMethod ? paymentMethodId(provider.id, object_id) : null
  const method = payment_method_id === null ? null : await loadMethod(workflow, payment_method_id)
  const owner = method && paymentMethodFold.subjectOf?.(method.state)
  const named = method && method.state.status !== 'none' ? method.state.provider_customer_id : null
  const customerId = customer_id ?? named
  const deletion = customerId === null ? null : customerDeletionStream(provider.id, customerId)
  const person = {
    subject: owner ?? subjectNamed(customer_email === null ? null : guestOwner(customer_email)),
    owners: method?.owners ?? {},
    isErased: deletion !== null && (await workflow.store.load(deletion, customerDeletionFold)).state,
  }
  return payment_method_id !== null && method && method.state.status !== 'none'
    ? { kind: 'method', payment_method_id, method, ...person }
    : { kind: 'foreign', ...person }
}

/**
 * Erases the body of a stored notification, if its payment is that of somebody who was erased. Call it when the notification is
 * applied: without its body it cannot be.
 */
export async function eraseBodyOfErased(
  { store, now }: Workflow,
  stream: StreamName,
  payment: OwnPayment,
  metadata: EventMetadata,
): Promise<void> {
  if (!(await store.areErased(payment.owners ?? {}))) return
  const [received] = await store.readStream(stream)
  const own = received?.sealed.body?.[0]
  // The key of a person who was not erased opens more than this body, and the key of a day the bodies of others.
  if (own === undefined || own !== (await store.keyOf(stream))) return
  const erasure_id = randomUUIDv7()
  const data = { erasure_id, occurred_at: now().toISOString(), key_ids: [own] }
  await store.handle({
    stream: erasureStream(erasure_id),
    fold: erasureFold,
    decide: () => [{ type: 'SubjectErased', data }],
    metadata,
    assumed: newStream(erasureFold),
  })
  await store.destroyKeys([own])
}
