// A payment in API responses (interface, section 2.1).
import { type Static, Type } from 'typebox'
import { ClientObject, mapFields, Nullable } from '../fields.ts'
import { PaymentMethodSummary } from '../payment-methods/paymentMethod.ts'
import { clientTexts, clientTextsOf } from './clientTexts.ts'
import { CaptureMethod, DisputeStatus } from './events.ts'
import { disputeStatusOf, receivedOf, refundedOf } from './money.ts'
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
  return {
    id: payment.payment_id,
    subtotal_cents: payment.subtotal_cents,
    tax_cents: payment.tax_cents,
    discount_cents: payment.discount_cents,
    total_cents: payment.total_cents,
    amount_cents: payment.total_cents,
    amount_received_cents: receivedOf(payment),
    amount_refunded_cents: refundedOf(payment),
    amount_capturable_cents: payment.capturable_cents,
    currency: payment.currency,
    status: payment.status,
    dispute_status: disputeStatusOf(payment),
    ...clientTextsOf(payment),
    provider_id: payment.provider_id,
    provider_payment_id: payment.provider_payment_id,
    provider_intent_id: payment.provider_intent_id,
    client_secret: payment.client_secret,
    capture_method: payment.capture_method,
    redirect_url: payment.redirect_url,
    expires_at: payment.expires_at,
    payment_method_id: payment.payment_method_id,
    payment_method,
    is_guest_payment: payment.is_guest_payment,
    guest_email: payment.guest_email,
    metadata: payment.metadata ?? {},
    created_at: payment.created_at,
    updated_at: payment.updated_at,
    completed_at: payment.completed_at,
  }
}
