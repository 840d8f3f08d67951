// The resources of the administrator API that the console shows.

export type PaymentStatus = 'pending' | 'processing' | 'succeeded' | 'failed' | 'canceled'
export type DisputeStatus = 'open' | 'won' | 'lost'
export type RefundReason = 'duplicate' | 'fraudulent' | 'requested_by_customer' | 'other'

export type ListedPayment = {
  id: string
  subtotal_cents: number
  tax_cents: number
  discount_cents: number
  total_cents: number
  amount_cents: number
  amount_received_cents: number
  amount_refunded_cents: number
  currency: string
  status: PaymentStatus
  dispute_status: DisputeStatus | null
  description: string | null
  concept: string | null
  reference_code: string | null
  category: string | null
  tags: string | null
  provider_id: string
  payment_method_id: string | null
  is_guest_payment: boolean
  guest_email: string | null
  user_id: string | null
  attention: boolean
  created_at: string
  updated_at: string
  completed_at: string | null
}

export type MethodSummary = {
  id: string
  payment_type: string | null
  wallet_type: string | null
  card_brand: string | null
  last_four: string | null
  expiry_month: number | null
  expiry_year: number | null
  alias: string | null
}

export type AttentionEntry = { code: string; occurred_at: string; message: string }

export type Payment = Omit<ListedPayment, 'user_id' | 'attention'> & {
  provider_payment_id: string | null
  provider_intent_id: string | null
  client_secret: string | null
  metadata: Record<string, unknown>
  amount_capturable_cents: number
  capture_method: 'automatic' | 'manual'
  redirect_url: string | null
  expires_at: string | null
  payment_method: MethodSummary | null
  attention: AttentionEntry[]
}

export type Refund = {
  id: string
  amount_cents: number
  currency: string
  status: 'pending' | 'succeeded' | 'failed'
  reason: RefundReason
  note: string | null
  provider_refund_id: string | null
  failure_code: string | null
  created_at: string
  updated_at: string
}

export type Dispute = {
  id: string
  payment_id: string
  provider_id: string
  provider_dispute_id: string | null
  amount_cents: number | null
  currency: string
  status: DisputeStatus
  reason: string | null
  evidence_due_by: string | null
  created_at: string
  updated_at: string
}

export type HistoryEntry = {
  position: string
  revision: number
  type: string
  occurred_at: string
  actor: string
  correlation_id: string
  causation_id: string
  status_after: PaymentStatus
  data: Record<string, unknown>
}

export type RawEvent = {
  id: string
  type: string
  stream: string
  revision: number
  position: string
  created: string
  data: Record<string, unknown>
  metadata: Record<string, unknown>
}

type NumberAndSum = { count: number; amount_cents: number }
export type Statistics = {
  from: string
  to: string
  currency: string
  provider_id: string
  payments: Partial<Record<PaymentStatus, NumberAndSum>>
  received_cents: number
  refunds: NumberAndSum
  disputes: NumberAndSum
}

export type PaymentMethod = MethodSummary & {
  type: string | null
  provider_id: string
  customer_id: string | null
  organization_id: string | null
  billing_address_id: string | null
  billing_details: Record<string, unknown> | null
  is_default: boolean
  guest_email: string | null
  created_at: string
  updated_at: string
}

export type Address = { id: string; is_default: boolean; created_at: string; updated_at: string } & Record<
  string,
  string | boolean | null
>

export type ProductType = 'physical' | 'digital' | 'service' | 'subscription'
export type Product = {
  id: string
  name: string
  description: string | null
  product_type: ProductType
  is_recurring: boolean
  subtotal_cents: number
  tax_cents: number
  discount_cents: number
  total_cents: number
  currency: string
  billing_interval: 'day' | 'week' | 'month' | 'year' | null
  trial_days: number | null
  category_id: string | null
  is_active: boolean
  created_at: string
  updated_at: string
}
export type ProductChanges = Partial<Omit<Product, 'id' | 'created_at' | 'updated_at'>>

export type SyncReport = {
  total: number
  successful: number
  failed: number
  results: {
    product_id: string
    status: 'created' | 'updated' | 'skipped' | 'failed'
    provider_product_id: string | null
    provider_price_id: string | null
    error?: { code: string; message: string }
    price_differs?: true
    mapped_locally?: true
    kept_fields?: string[]
  }[]
  summary: { created: number; updated: number; skipped: number; failed: number }
}
export type SyncRequest = {
  product_ids: string[]
  provider_id?: string
  force?: boolean
  dryRun?: boolean
  updatePrices?: boolean
}

export type UserContext = {
  authenticated: boolean
  user_id: string | null
  user_type: string
  user_email: string | null
}
