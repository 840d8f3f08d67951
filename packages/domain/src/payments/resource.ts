// A payment in API responses (interface, section 2.1).
import { type Static, Type } from 'typebox'
import { ClientObject, mapFields, Nullable, pick } from '../fields.ts'
import { PaymentMethodSummary } from '../payment-methods/paymentMethod.ts'
import { disputeStatusOf, receivedOf, refundedOf } from './charges.ts'
import { clientTexts } from './clientTexts.ts'
import { CaptureMethod, DisputeStatus } from './events.ts'
import { type Payment, PaymentStatus } from './payment.ts'

export const PaymentResource = Type.Object(
  {
    id: Type.String({ format: 'uuid' }),
    subtotal_cents: Type.Integer(),
    tax_cents: Type.Integer(),
    discount_cents: Type.Integer(),
    total_cents: Type.Integer(),
    amount_cents: Type.Integer(),
    amount_received_cents: Type.Integer(),
    amount_refunded_cents: Type.Integer(),
    amount_capturable_cents: Type.Integer(),
    currency: Type.String(),
    status: PaymentStatus,
    dispute_status: Nullable(DisputeStatus),
    ...mapFields(clientTexts, () => Nullable(Type.String())),
    provider_id: Type.String(),
    provider_payment_id: Nullable(Type.String()),
    provider_intent_id: Nullable(Type.String()),
    client_secret: Nullable(Type.String()),
    capture_method: CaptureMethod,
    redirect_url: Nullable(Type.String()),
    expires_at: Nullable(Type.String({ format: 'date-time' })),
    payment_method_id: Nullable(Type.String()),
    payment_method: Nullable(PaymentMethodSummary),
    is_guest_payment: Type.Boolean(),
    guest_email: Nullable(Type.String()),
    metadata: ClientObject(),
    created_at: Type.String({ format: 'date-time' }),
    updated_at: Type.String({ format: 'date-time' }),
    completed_at: Nullable(Type.String({ format: 'date-time' })),
  },
  { title: 'Payment' },
)
export type PaymentResource = Static<typeof PaymentResource>

/** Fields that lists leave out. */
const singleOnly = [
  'provider_payment_id',
  'provider_intent_id',
  'client_secret',
  'metadata',
  'amount_capturable_cents',
  'capture_method',
  'redirect_url',
  'expires_at',
  'dispute_status',
] as const

/** A payment in a list. `payment_method` is present only when the request includes it. */
export const ListedPayment = Type.Interface(
  [Type.Omit(PaymentResource, [...singleOnly, 'payment_method'])],
  {
    payment_method: Type.Optional(Nullable(PaymentMethodSummary)),
  },
  { title: 'ListedPayment' },
)
export type ListedPayment = Static<typeof ListedPayment>

/**
 * The response to the caller who created the payment.
 * @param payment_method the saved method; `null` when there is none, or only a test method
 */
export function paymentResource(payment: Payment, payment_method: PaymentMethodSummary | null): PaymentResource {
  return pick(PaymentResource, {
    ...payment,
    id: payment.payment_id,
    amount_cents: payment.total_cents,
    amount_received_cents: receivedOf(payment),
    amount_refunded_cents: refundedOf(payment),
    amount_capturable_cents: payment.capturable_cents,
    dispute_status: disputeStatusOf(payment),
    payment_method,
    metadata: payment.metadata ?? {},
  })
}
