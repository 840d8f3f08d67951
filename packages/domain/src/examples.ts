// Example resources with invented data, for the API documentation.
import type { AddressResource } from './addresses/address.ts'
import { emptyAddressContent } from './addresses/events.ts'
import type { PaymentMethodResource } from './payment-methods/paymentMethod.ts'
import { clientTextsOf } from './payments/clientTexts.ts'
import type { RefundResource } from './payments/refunds.ts'
import type { ListedPayment, PaymentResource } from './payments/resource.ts'
import type { ProductResource } from './products/product.ts'
import type { WebhookLogEntry } from './webhookLog.ts'

export const exampleId = '018f0000-0000-7000-8000-000000000001'
const otherExampleId = '018f0000-0000-7000-8000-0000000000aa'
const user_id = '00000000-0000-4000-8000-000000000001'
const times = { created_at: '2026-01-31T12:00:00.000Z', updated_at: '2026-01-31T12:00:00.100Z' }

export const exampleListedPayment: ListedPayment = {
  id: exampleId,
  subtotal_cents: 2599,
  tax_cents: 0,
  discount_cents: 0,
  total_cents: 2599,
  amount_cents: 2599,
  amount_received_cents: 0,
  amount_refunded_cents: 0,
  currency: 'EUR',
  status: 'pending',
  ...clientTextsOf({ concept: 'Order 1001' }),
  provider_id: 'sandbox',
  payment_method_id: null,
  is_guest_payment: true,
  guest_email: 'guest@example.com',
  ...times,
  completed_at: null,
}

export const examplePayment: PaymentResource = {
  ...exampleListedPayment,
  provider_payment_id: null,
  provider_intent_id: 'pi_1',
  client_secret: 'pi_1_secret',
  amount_capturable_cents: 0,
  capture_method: 'automatic',
  redirect_url: null,
  expires_at: '2026-02-01T12:00:00.000Z',
  dispute_status: null,
  payment_method: null,
  metadata: {},
}

export const exampleRefund: RefundResource = {
  id: '018f0000-0000-7000-8000-0000000000bb',
  payment_id: exampleId,
  amount_cents: 500,
  currency: 'EUR',
  reported_amount_cents: null,
  reported_currency: null,
  status: 'succeeded',
  reason: 'requested_by_customer',
  note: null,
  provider_refund_id: 're_1',
  failure_code: null,
  created_at: '2026-01-31T13:00:00.000Z',
  updated_at: '2026-01-31T13:00:01.000Z',
}

export const exampleMethod: PaymentMethodResource = {
  id: exampleId,
  payment_type: 'card',
  wallet_type: null,
  card_brand: 'visa',
  last_four: '4242',
  expiry_month: '12',
  expiry_year: '2034',
  alias: 'Everyday card',
  type: 'card',
  provider_id: 'sandbox',
  customer_id: 'sandbox_cus_example',
  organization_id: null,
  billing_address_id: null,
  billing_details: null,
  is_default: true,
  guest_email: null,
  ...times,
}

export const exampleAddress: AddressResource = {
  id: exampleId,
  user_id,
  guest_email: null,
  ...emptyAddressContent,
  address_type: 'billing',
  name: 'Ada Example',
  line1: '1 Sample Street',
  city: 'Berlin',
  postal_code: '10115',
  country: 'DE',
  is_default: true,
  ...times,
}

export const exampleProduct: ProductResource = {
  id: exampleId,
  name: 'Sample plan',
  description: 'Everything, every month',
  product_type: 'subscription',
  is_recurring: true,
  subtotal_cents: 1000,
  tax_cents: 190,
  discount_cents: 0,
  total_cents: 1190,
  currency: 'EUR',
  billing_interval: 'month',
  trial_days: 14,
  category_id: null,
  is_active: true,
  ...times,
}

export const exampleLogEntry: WebhookLogEntry = {
  id: otherExampleId,
  provider: 'sandbox',
  event_type: 'payment.succeeded',
  status: 'success',
  payload: {
    event: 'payment.succeeded',
    provider: 'sandbox',
    timestamp: '2026-01-31T12:00:05.000Z',
    data: {
      payment_id: exampleId,
      amount: 2599,
      currency: 'EUR',
      status: 'succeeded',
      user: { id: user_id, type: 'user', email: 'ada@example.com' },
      project: { id: null },
    },
  },
  response: {
    node: '1',
    test: false,
    requested_by: null,
    http_status: 200,
    error: null,
    body: 'ok',
    attempts: [{ at: '2026-01-31T12:00:05.100Z', ms: 42, http_status: 200, error: null }],
    next_attempt_at: null,
    causation: {
      stream: `payment-${exampleId}`,
      revision: 2,
      event_id: '018f0000-0000-7000-8000-000000000002',
      causation_id: otherExampleId,
      correlation_id: otherExampleId,
    },
  },
  created_at: '2026-01-31T12:00:05.000Z',
}
