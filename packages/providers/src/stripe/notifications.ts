// Stripe's notifications: event types, and how their objects are read. https://docs.stripe.com/api/events
import { ClientObject } from '@paylog/domain/fields'
import type { PaymentStatus } from '@paylog/domain/payments/payment'
import { Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { Code, checkEvent, maybe, notificationJson, UnixTime } from '../fields.ts'
import { codeAt, instantAt, isoTime } from '../lenient.ts'
import type { ProviderNotification } from '../provider.ts'
import {
  chargeDetails,
  customerDetails,
  disputeDetails,
  intentDetails,
  invoiceDetails,
  isOthersIntent,
  methodDetails,
  type NotificationDetails,
  objectDetails,
  referenceDetails,
  refundDetails,
  refundedChargeDetails,
  type StripeEventData,
  subscriptionDetails,
  thinDetails,
} from './notificationDetails.ts'
import { idIn } from './objects.ts'

/** How an event type is read. */
type NotificationKind = {
  /** The generic type; `null` where another event of Stripe's reports the same, or no generic type exists. */
  readonly generic: string | null
  readonly details: (event: StripeEventData) => Partial<NotificationDetails>
}

const intentKind = (generic: string, status: PaymentStatus): NotificationKind => ({
  generic: `payment_intent.${generic}`,
  details: (event) => intentDetails(event, status),
})
const methodKind = (generic: string): NotificationKind => ({
  generic: `payment_method.${generic}`,
  details: methodDetails,
})
const subscriptionKind = (
  generic: string,
  status: 'maybe_changed' | 'changed' = 'maybe_changed',
): NotificationKind => ({
  generic: `subscription.${generic}`,
  details: (event) => subscriptionDetails(event, status === 'changed'),
})
const invoiceKind = (generic: string, paid: 'amount_paid' | 'amount_due'): NotificationKind => ({
  generic: `invoice.${generic}`,
  details: (event) => invoiceDetails(event, paid),
})
const customerKind = (generic: string): NotificationKind => ({
  generic: `customer.${generic}`,
  details: customerDetails,
})
const chargeKind: NotificationKind = { generic: null, details: chargeDetails }
const refundKind: NotificationKind = { generic: null, details: refundDetails }
const disputeKind: NotificationKind = { generic: null, details: disputeDetails }

/** By Stripe's types, and by the generic types where those differ. The first one of a generic type is its own of Stripe. */
const notificationKinds: ReadonlyMap<string, NotificationKind> = new Map([
  ['payment_intent.created', { generic: 'payment_intent.created', details: referenceDetails }],
  ['payment_intent.succeeded', intentKind('succeeded', 'succeeded')],
  ['payment_intent.payment_failed', intentKind('failed', 'failed')],
  ['payment_intent.failed', intentKind('failed', 'failed')],
  ['payment_intent.canceled', intentKind('canceled', 'canceled')],
  ['payment_intent.processing', intentKind('processing', 'processing')],
  ['payment_intent.amount_capturable_updated', intentKind('processing', 'processing')],
  ['payment_intent.requires_action', intentKind('requires_action', 'pending')],

  // No status from charges: the intent's own events report it.
  ['charge.succeeded', chargeKind],
  ['charge.failed', chargeKind],
  ['charge.refunded', { generic: null, details: refundedChargeDetails }],
  ['refund.created', refundKind],
  ['refund.updated', refundKind],
  ['refund.failed', refundKind],
  ['charge.refund.updated', refundKind],
  ['charge.dispute.created', disputeKind],
  ['charge.dispute.updated', disputeKind],
  ['charge.dispute.closed', disputeKind],
  ['charge.dispute.funds_withdrawn', disputeKind],
  ['charge.dispute.funds_reinstated', disputeKind],

  ['payment_method.attached', methodKind('attached')],
  ['payment_method.detached', methodKind('detached')],
  ['payment_method.updated', methodKind('updated')],
  ['payment_method.automatically_updated', methodKind('updated')],

  ['customer.subscription.created', subscriptionKind('created')],
  ['customer.subscription.updated', subscriptionKind('updated')],
  ['customer.subscription.paused', subscriptionKind('updated', 'changed')],
  ['customer.subscription.resumed', subscriptionKind('updated', 'changed')],
  ['customer.subscription.deleted', subscriptionKind('deleted')],
  ['customer.subscription.trial_will_end', subscriptionKind('trial_will_end')],
  ['subscription.created', subscriptionKind('created')],
  ['subscription.updated', subscriptionKind('updated')],
  ['subscription.deleted', subscriptionKind('deleted')],
  ['subscription.trial_will_end', subscriptionKind('trial_will_end')],

  // `invoice.paid` is left out: it reports the same, and also invoices that were paid outside Stripe.
  ['invoice.payment_succeeded', invoiceKind('payment_succeeded', 'amount_paid')],
  ['invoice.payment_failed', invoiceKind('payment_failed', 'amount_due')],

  ['customer.created', customerKind('created')],
  ['customer.updated', customerKind('updated')],
  ['customer.deleted', customerKind('deleted')],
])

export const genericTypes = [...notificationKinds].flatMap(
  ([type, { generic }]): readonly (readonly [string, string])[] => (generic === null ? [] : [[type, generic]]),
)

const stripeEvent = Compile(
  Type.Object({
    id: Code,
    type: Code,
    created: UnixTime,
    /** Set when the event belongs to a connected account. */
    account: maybe(Code),
    data: Type.Object({ object: ClientObject(), previous_attributes: maybe(ClientObject()) }),
  }),
)

/** Thin events name their object but do not contain it. https://docs.stripe.com/api/v2/core/events/object */
const thinEvent = Compile(
  Type.Object({
    id: Code,
    object: Type.Literal('v2.core.event'),
    type: Code,
    created: Type.String({ format: 'date-time' }),
    related_object: maybe(Type.Object({ id: Code })),
  }),
)

/**
 * The type of the snapshot event about the same change, `payment_intent.succeeded` for `v1.payment_intent.succeeded`; `null`
 * for the type of a snapshot event, and for one that we do not read.
 */
export function snapshotTypeOf(thinType: string): string | null {
  const type = thinType.startsWith('v1.') ? thinType.slice('v1.'.length) : ''
  return notificationKinds.has(type) ? type : null
}

/**
 * Reads a notification. Unknown types are accepted too. A thin event is read as far as it goes.
 * @throws DomainError `invalid_request` when it is not a Stripe event
 */
export function readNotification(body: Buffer): ProviderNotification {
  const { json: event } = notificationJson(body)
  const occurred_at = instantAt(event, 'created')
  if (thinEvent.Check(event) && occurred_at !== null) {
    const { id, type, related_object } = event
    const object_id = related_object?.id ?? null
    const { generic = null } = notificationKinds.get(snapshotTypeOf(type) ?? '') ?? {}
    const details = type.startsWith('v1.') ? thinDetails({ id, occurred_at }, object_id) : {}
    return toProviderNotification({ id, type, occurred_at, generic }, { object_id, ...details })
  }
  const { id, type, created, account, data } = checkEvent(stripeEvent, event)
  const { object, previous_attributes } = data
  const whole = { id, type, occurred_at: isoTime(created), object, previous: previous_attributes ?? {} }
  return readEvent(type, whole, { isOurAccount: !account })
}

/**
 * Reads an event with its object.
 * @param snapshotType decides how; the type of the event itself may be that of a thin one
 */
export function readEvent(
  snapshotType: string,
  { type, ...event }: StripeEventData & { readonly type: string },
  { isOurAccount }: { readonly isOurAccount: boolean },
): ProviderNotification {
  const { id, occurred_at, object } = event
  const { generic = null, details = objectDetails } = notificationKinds.get(snapshotType) ?? {}
  return toProviderNotification(
    { id, type, occurred_at, generic },
    {
      object_id: idIn(object),
      status: codeAt(object, 'status')?.toLowerCase() ?? null,
      customer_id: idIn(object.customer),
      ...details(event),
      // Our intents belong to our own account, so metadata of a connected account never refers to our payments.
      ...(isOurAccount && !isOthersIntent(object) ? {} : { referenced_payment_id: null, report: null }),
    },
  )
}

function toProviderNotification(
  event: {
    readonly id: string
    readonly type: string
    readonly occurred_at: string
    readonly generic: string | null
  },
  details: Partial<NotificationDetails>,
): ProviderNotification {
  return {
    provider_event_id: event.id,
    provider_type: event.type,
    generic_type: event.generic,
    occurred_at: event.occurred_at,
    object_id: null,
    amount_cents: null,
    currency: null,
    status: null,
    customer_id: null,
    customer_email: null,
    referenced_payment_id: null,
    report: null,
    subscription: null,
    ...details,
  }
}
