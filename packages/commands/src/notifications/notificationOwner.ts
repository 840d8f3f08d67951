// Whose personal data a notification holds that has a stream of its own, and the body of one whose person turns out to be erased.
import { randomUUIDv7 } from 'node:crypto'
import { guestOwner } from '@paylog/domain/actor'
import { erasureFold } from '@paylog/domain/erasures'
import type { EventMetadata } from '@paylog/domain/events'
import { paymentMethodFold } from '@paylog/domain/payment-methods/paymentMethod'
import { payerOf } from '@paylog/domain/payments/fold'
import { type Subject, subjectNamed } from '@paylog/domain/personalData'
import { customerDeletionFold } from '@paylog/domain/providerCustomer'
import { keyOfStream, type OwnerKeys } from '@paylog/event-store/codec/partKeys'
import { newStream } from '@paylog/event-store/eventStore'
import {
  customerDeletionStream,
  erasureStream,
  paymentMethodStream,
  type StreamName,
} from '@paylog/event-store/streamName'
import type { Provider, ProviderNotification } from '@paylog/providers/provider'
import type { Workflow } from '../context.ts'
import { notifiedMethodId } from '../payment-methods/applyToMethod.ts'
import type { OwnPayment } from '../payments/applyToPayment.ts'

export type NotificationOwner = {
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

export const ownerOfPayment = (payment: OwnPayment): NotificationOwner => ({
  subject: payerOf(payment.state),
  owners: payment.owners ?? {},
  isErased: false,
})

/** While it is not known what a notification is about, it has a key of its own, which can be destroyed when it is. */
export const unknownOwner = (stream: StreamName): NotificationOwner => ({
  subject: subjectNamed(keyOfStream(stream)),
  owners: {},
  isErased: false,
})

/** Whose customer a notification is about that names no payment. The owner of a method of ours is known, others by e-mail. */
export async function ownerOfCustomer(
  { store }: Workflow,
  provider: Provider,
  notification: ProviderNotification,
): Promise<NotificationOwner> {
  const { customer_email } = notification
  const methodId = notifiedMethodId(provider, notification)
  const loaded = methodId === null ? null : await store.load(paymentMethodStream(methodId), paymentMethodFold)
  const method = loaded?.state ?? null
  const owner = method && paymentMethodFold.subjectOf?.(method)
  const named = method !== null && method.status !== 'none' ? method.provider_customer_id : null
  const customerId = notification.customer_id ?? named
  return {
    subject: owner ?? subjectNamed(customer_email === null ? null : guestOwner(customer_email)),
    owners: loaded?.owners ?? {},
    isErased:
      customerId !== null &&
      (await store.load(customerDeletionStream(provider.id, customerId), customerDeletionFold)).state,
  }
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
