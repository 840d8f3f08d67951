// The fake Stripe's payment objects in its API version: intents, charges, refunds and disputes.
import { emptyBillingDetails, stripeId, stripeSecret } from './bodies.ts'

export type PaymentError = {
  readonly type: 'card_error'
  readonly code: string
  readonly decline_code?: string
  readonly message: string
  readonly charge?: string
}

export type StripeIntent = ReturnType<typeof intentBody>
export type IntentStatus =
  | 'requires_payment_method'
  | 'requires_confirmation'
  | 'requires_action'
  | 'processing'
  | 'requires_capture'
  | 'succeeded'
  | 'canceled'

export type NewIntent = {
  readonly amount: number
  /** Lower case. */
  readonly currency: string
  readonly description?: string | null
  readonly metadata?: Readonly<Record<string, string>>
  readonly payment_method?: string | null
  readonly customer?: string | null
  readonly receipt_email?: string | null
  readonly capture_method?: string
  readonly statement_descriptor_suffix?: string | null
}

export function intentBody(intent: NewIntent, created: number) {
  const id = stripeId('pi')
  const payment_method = intent.payment_method ?? null
  return {
    id,
    object: 'payment_intent' as const,
    amount: intent.amount,
    amount_capturable: 0,
    amount_details: { tip: {} },
    amount_received: 0,
    automatic_payment_methods: { allow_redirects: 'always', enabled: true },
    canceled_at: null as number | null,
    cancellation_reason: null as string | null,
    capture_method: intent.capture_method ?? 'automatic_async',
    client_secret: stripeSecret(id),
    confirmation_method: 'automatic',
    created,
    currency: intent.currency,
    customer: intent.customer ?? null,
    description: intent.description ?? null,
    last_payment_error: null as PaymentError | null,
    latest_charge: null as string | null,
    livemode: false,
    metadata: { ...intent.metadata } as Record<string, string>,
    next_action: null as object | null,
    payment_method,
    payment_method_options: { card: { installments: null, network: null, request_three_d_secure: 'automatic' } },
    payment_method_types: ['card'],
    processing: null as object | null,
    receipt_email: intent.receipt_email ?? null,
    statement_descriptor_suffix: intent.statement_descriptor_suffix ?? null,
    status: (payment_method === null ? 'requires_payment_method' : 'requires_confirmation') as IntentStatus,
  }
}

export type StripeCharge = ReturnType<typeof chargeBody>
export type ChargeStatus = 'succeeded' | 'failed' | 'pending'

export function chargeBody(intent: StripeIntent, status: ChargeStatus, created: number) {
  return {
    id: stripeId('ch'),
    object: 'charge' as const,
    amount: intent.amount,
    amount_captured: 0,
    amount_refunded: 0,
    billing_details: emptyBillingDetails,
    calculated_statement_descriptor: 'EXAMPLE',
    captured: false,
    created,
    currency: intent.currency,
    customer: intent.customer,
    description: intent.description,
    disputed: false,
    failure_code: null as string | null,
    failure_message: null as string | null,
    livemode: false,
    // Stripe copies them from the intent when it creates the charge.
    metadata: { ...intent.metadata },
    paid: status !== 'failed',
    payment_intent: intent.id,
    payment_method: intent.payment_method,
    payment_method_details: { card: { brand: 'visa', exp_month: 8, exp_year: 2030, last4: '4242' }, type: 'card' },
    receipt_email: intent.receipt_email,
    refunded: false,
    status: status as ChargeStatus,
  }
}

export type StripeRefund = ReturnType<typeof refundBody>
export type StripeRefundStatus = 'pending' | 'requires_action' | 'succeeded' | 'failed' | 'canceled'

export type NewRefund = {
  readonly amount: number
  readonly status?: StripeRefundStatus
  readonly reason?: string | null
  readonly metadata?: Readonly<Record<string, string>>
}

export function refundBody(charge: StripeCharge, refund: NewRefund, created: number) {
  return {
    id: stripeId('re'),
    object: 'refund' as const,
    amount: refund.amount,
    charge: charge.id,
    created,
    currency: charge.currency,
    destination_details: { card: { type: 'reversal' }, type: 'card' },
    failure_reason: undefined as string | undefined,
    metadata: { ...refund.metadata } as Record<string, string>,
    payment_intent: charge.payment_intent,
    reason: refund.reason ?? null,
    status: refund.status ?? ('succeeded' as StripeRefundStatus),
  }
}

export type StripeDispute = ReturnType<typeof disputeBody>

export function disputeBody(charge: StripeCharge, amount: number, created: number) {
  return {
    id: stripeId('dp'),
    object: 'dispute' as const,
    amount,
    charge: charge.id,
    created,
    currency: charge.currency,
    evidence: {},
    evidence_details: { due_by: created + 864_000, has_evidence: false, past_due: false, submission_count: 0 },
    livemode: false,
    metadata: {},
    payment_intent: charge.payment_intent,
    payment_method_details: {
      card: { brand: 'visa', case_type: 'chargeback', network_reason_code: '10.4' },
      type: 'card',
    },
    reason: 'fraudulent',
    status: 'needs_response',
  }
}
