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
    allowed_payment_method_types: null,
    amount: intent.amount,
    amount_capturable: 0,
    amount_details: { tip: {} },
    amount_received: 0,
    application: null,
    application_fee_amount: null,
    automatic_payment_methods: { allow_redirects: 'always', enabled: true },
    canceled_at: null as number | null,
    cancellation_reason: null as string | null,
    capture_method: intent.capture_method ?? 'automatic_async',
    client_secret: stripeSecret(id),
    confirmation_method: 'automatic',
    created,
    currency: intent.currency,
    customer: intent.customer ?? null,
    customer_account: null,
    description: intent.description ?? null,
    excluded_payment_method_types: null,
    last_payment_error: null as PaymentError | null,
    latest_charge: null as string | null,
    livemode: false,
    managed_payments: null,
    metadata: { ...intent.metadata } as Record<string, string>,
    next_action: null as object | null,
    on_behalf_of: null,
    payment_method,
    payment_method_configuration_details: null,
    payment_method_options: { card: { installments: null, network: null, request_three_d_secure: 'automatic' } },
    payment_method_types: ['card'],
    payment_record: null,
    processing: null as object | null,
    receipt_email: intent.receipt_email ?? null,
    review: null,
    setup_future_usage: null,
    shipping: null,
    source: null,
    statement_descriptor: null,
    statement_descriptor_suffix: intent.statement_descriptor_suffix ?? null,
    status: (payment_method === null ? 'requires_payment_method' : 'requires_confirmation') as IntentStatus,
    transfer_data: null,
    transfer_group: null,
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
    application: null,
    application_fee: null,
    application_fee_amount: null,
    balance_transaction: null,
    billing_details: emptyBillingDetails,
    calculated_statement_descriptor: 'EXAMPLE',
    captured: false,
    created,
    currency: intent.currency,
    customer: intent.customer,
    description: intent.description,
    disputed: false,
    failure_balance_transaction: null,
    failure_code: null as string | null,
    failure_message: null as string | null,
    fraud_details: {},
    livemode: false,
    // Stripe copies them from the intent when it creates the charge.
    metadata: { ...intent.metadata },
    on_behalf_of: null,
    outcome: null,
    paid: status !== 'failed',
    payment_intent: intent.id,
    payment_method: intent.payment_method,
    payment_method_details: { card: { brand: 'visa', exp_month: 8, exp_year: 2030, last4: '4242' }, type: 'card' },
    receipt_email: intent.receipt_email,
    receipt_number: null,
    receipt_url: null,
    refunded: false,
    review: null,
    shipping: null,
    source: null,
    source_transfer: null,
    statement_descriptor: null,
    statement_descriptor_suffix: null,
    status: status as ChargeStatus,
    transfer_data: null,
    transfer_group: null,
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
    balance_transaction: null,
    charge: charge.id,
    created,
    currency: charge.currency,
    destination_details: { card: { type: 'reversal' }, type: 'card' },
    failure_reason: undefined as string | undefined,
    metadata: { ...refund.metadata } as Record<string, string>,
    payment_intent: charge.payment_intent,
    reason: refund.reason ?? null,
    receipt_number: null,
    source_transfer_reversal: null,
    status: refund.status ?? ('succeeded' as StripeRefundStatus),
    transfer_reversal: null,
  }
}

export type StripeDispute = ReturnType<typeof disputeBody>

export function disputeBody(charge: StripeCharge, amount: number, created: number) {
  return {
    id: stripeId('dp'),
    object: 'dispute' as const,
    amount,
    balance_transactions: [],
    charge: charge.id,
    created,
    currency: charge.currency,
    enhanced_eligibility_types: [],
    evidence: {},
    evidence_details: { due_by: created + 864_000, has_evidence: false, past_due: false, submission_count: 0 },
    is_charge_refundable: false,
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
