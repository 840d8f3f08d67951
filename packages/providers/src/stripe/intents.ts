// Stripe's payment intents. https://docs.stripe.com/api/payment_intents

import type { PaymentStatus } from '@paylog/domain/payments/payment'
import type Stripe from 'stripe'
import { type Static, Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { Code, maybe } from '../fields.ts'
import type {
  CaptureAuthorized,
  CreateIntent,
  FoundIntent,
  IntentRef,
  IntentSnapshot,
  ProviderIds,
  ProviderIntent,
  WithKey,
} from '../provider.ts'
import type { ApiResponse } from '../providerApi.ts'
import { checkResponse, nullIfRejected, unreadableResponse } from '../responses.ts'
import { isUnexpectedState, nullIfMissing, rejectedIfAboutCurrency, type StripeApi, sentAmount } from './api.ts'
import {
  idIn,
  intentStatusOf,
  PaymentIntent,
  paymentIdIn,
  Reference,
  RefundedCharge,
  statusReportOf,
} from './objects.ts'
import { reportedRefundsOf } from './refunds.ts'

const paymentIntent = Compile(PaymentIntent)
const chargedIntent = Compile(Type.Object({ latest_charge: maybe(Type.Union([Code, RefundedCharge])) }))
const searchResult = Compile(
  Type.Object({
    data: Type.Array(PaymentIntent),
    has_more: Type.Boolean(),
    next_page: maybe(Code),
  }),
)

/** Stripe's limit, https://docs.stripe.com/api/payment_intents/create */
const maxDescriptionLength = 1_000
/** A payment has one intent, or a few when responses were lost. */
const maxPages = 5
const pageSize = 100

/**
 * `return_url` is not sent: Stripe takes it only when the intent is confirmed, which the client does.
 * @throws ProviderError
 */
export async function createIntent(api: StripeApi, request: CreateIntent): Promise<ProviderIntent> {
  const { payment_id, provider_method_id, provider_customer_id } = request
  const description = [...(request.description ?? '')].slice(0, maxDescriptionLength).join('')
  const amount = sentAmount(request.amount_cents, request.currency)
  const isManual = request.capture_method === 'manual'
  const currency = request.currency.toLowerCase()
  const params: Stripe.PaymentIntentCreateParams = {
    amount,
    currency,
    automatic_payment_methods: { enabled: true },
    metadata: { payment_id },
    ...(isManual ? { capture_method: 'manual' } : {}),
    ...(request.statement_descriptor ? { statement_descriptor_suffix: request.statement_descriptor } : {}),
    // Stripe reads an empty string as a request to clear the field.
    ...(description ? { description } : {}),
    ...(provider_method_id ? { payment_method: provider_method_id } : {}),
    // An attached method can be used only with its customer.
    ...(provider_method_id && provider_customer_id ? { customer: provider_customer_id } : {}),
  }
  const { body: intent } = await api.request(paymentIntent, (stripe) =>
    stripe.paymentIntents.create(params, { idempotencyKey: request.idempotency_key }),
  )
  // An intent with other data must not be paid in place of this one.
  const named = intent.metadata?.payment_id ?? payment_id
  const isOtherCapture = isManual && intent.capture_method && intent.capture_method !== 'manual'
  if (intent.amount !== amount || intent.currency !== currency || named !== payment_id || isOtherCapture)
    throw unreadableResponse('another_intent')
  return { provider_intent_id: intent.id, client_secret: intent.client_secret ?? null }
}

/**
 * The intent with the refunds of its charge.
 * @throws ProviderError
 */
export async function retrieveIntent(api: StripeApi, id: string): Promise<IntentSnapshot | null> {
  const params = { expand: ['latest_charge.refunds'] }
  const response = await api
    .request(paymentIntent, (stripe) => stripe.paymentIntents.retrieve(id, params))
    .catch(nullIfMissing)
  if (response === null) return null
  const snapshot = snapshotOf(id, response)
  const { latest_charge } = checkResponse(chargedIntent, response.body)
  if (!latest_charge || typeof latest_charge === 'string') return snapshot
  return { ...snapshot, refunds: await reportedRefundsOf(latest_charge, snapshot.report, api) }
}

function snapshotOf(id: string, { body: intent, responded_at }: ApiResponse<PaymentIntent>): IntentSnapshot {
  if (intent.id !== id) throw unreadableResponse('another_intent')
  const source = { provider_event_id: null, provider_time: responded_at }
  const report = statusReportOf(intent, knownStatusOf(intent), source)
  if (report === null) throw unreadableResponse('another_amount')
  return { report, further_charges: [], awaits_capture: false }
}

/**
 * Searches for the intents of a payment. Stripe's search lags by about a minute.
 * @throws ProviderError
 */
export async function findIntents(api: StripeApi, paymentId: string): Promise<readonly FoundIntent[]> {
  const found: PaymentIntent[] = []
  let page: string | undefined
  for (let pages = 0; pages < maxPages; pages++) {
    const query = `metadata['payment_id']:'${paymentId}'`
    const params = { query, limit: pageSize, ...(page === undefined ? {} : { page }) }
    const { body } = await api.request(searchResult, (stripe) => stripe.paymentIntents.search(params))
    found.push(...body.data.filter(({ metadata }) => metadata?.payment_id === paymentId))
    if (!body.has_more || !body.next_page) break
    page = body.next_page
  }
  return found.map((intent) => ({
    provider_intent_id: intent.id,
    client_secret: intent.client_secret ?? null,
    status: knownStatusOf(intent),
  }))
}

const IntentOrCharge = Type.Object({ id: Code, metadata: maybe(Type.Object({})), payment_intent: maybe(Reference) })
const intentOrCharge = Compile(IntentOrCharge)

/** Ids of another form are not sent: the object of a generic event may have any id. */
const intentId = /^pi_\w+$/
const chargeId = /^(ch|py)_\w+$/

/**
 * The payment that the intent's metadata name. Without an intent id, the charge names the payment or its intent.
 * @throws ProviderError
 */
export async function findPaymentId(api: StripeApi, ids: ProviderIds): Promise<string | null> {
  const read = async (
    resource: 'charges' | 'paymentIntents',
    id: string,
  ): Promise<Partial<Static<typeof IntentOrCharge>>> => {
    const found = await api.request(intentOrCharge, (stripe) => stripe[resource].retrieve(id)).catch(nullIfRejected)
    if (found && found.body.id !== id) throw unreadableResponse('another_object')
    return found?.body ?? {}
  }
  let intent = ids.provider_intent_id
  const charge = ids.provider_payment_id
  if (intent === null && charge !== null && chargeId.test(charge)) {
    const found = await read('charges', charge)
    const named = paymentIdIn(found)
    if (named !== null) return named
    intent = idIn(found.payment_intent)
  }
  if (intent === null || !intentId.test(intent)) return null
  return paymentIdIn(await read('paymentIntents', intent))
}

/**
 * Cancels an intent that nobody has paid, or releases what is authorized.
 * @returns the intent afterwards, which another call or the payer may have changed before; `null` when Stripe does not
 *   know it
 * @throws ProviderError when the intent could be canceled but may not have been
 */
export async function cancelIntent(api: StripeApi, request: IntentRef & WithKey): Promise<IntentSnapshot | null> {
  const { provider_intent_id: id, idempotency_key: idempotencyKey } = request
  try {
    const canceled = await api.request(paymentIntent, (stripe) =>
      stripe.paymentIntents.cancel(id, {}, { idempotencyKey }),
    )
    const snapshot = snapshotOf(id, canceled)
    if (snapshot.report.status !== 'canceled') throw unreadableResponse('not_canceled')
    return snapshot
  } catch (error) {
    return isUnexpectedState(error) ? retrieveIntent(api, id) : nullIfMissing(error)
  }
}

/**
 * Captures what is authorized; Stripe releases the rest.
 * @returns the intent afterwards; unchanged when it does not wait for a capture
 * @throws ProviderError
 */
export async function captureAuthorized(api: StripeApi, request: CaptureAuthorized): Promise<IntentSnapshot> {
  const { provider_intent_id: id, idempotency_key: idempotencyKey } = request
  const amount_to_capture = sentAmount(request.amount_cents, request.currency)
  try {
    const captured = await api.request(paymentIntent, (stripe) =>
      stripe.paymentIntents.capture(id, { amount_to_capture }, { idempotencyKey }),
    )
    const snapshot = snapshotOf(id, captured)
    const { status } = snapshot.report
    if (status !== 'succeeded' && status !== 'processing') throw unreadableResponse('not_captured')
    return snapshot
  } catch (error) {
    const present = isUnexpectedState(error) ? await retrieveIntent(api, id) : null
    return present ?? rejectedIfAboutCurrency(error)
  }
}

function knownStatusOf(intent: PaymentIntent): PaymentStatus {
  const status = intentStatusOf(intent)
  if (status === undefined) throw unreadableResponse('another_status')
  return status
}
