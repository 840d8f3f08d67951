// Changes orders (v2): creates, captures, cancels and refunds them. An order is the intent; its capture takes the money.
import { Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { Code } from '../fields.ts'
import {
  type CaptureAuthorized,
  type CreateIntent,
  type IntentRef,
  type IntentSnapshot,
  ProviderError,
  type ProviderIntent,
  type RefundCharge,
  type ReportedRefund,
  type WithKey,
} from '../provider.ts'
import { type ApiResponse, ErrorResponse } from '../providerApi.ts'
import { noContent, type PaypalApi } from './client.ts'
import { Capture, captureReport, refundCustomId, statusOfCapture, toMoney } from './fields.ts'
import {
  capturesOf,
  findOrder,
  foundOrder,
  openAuthorizations,
  order,
  orderPath,
  Refund,
  reportedRefund,
  voidableAuthorizations,
} from './snapshots.ts'
import { vaultedSource } from './vault.ts'

/** In bytes, because PayPal counts a non-ASCII character as several. */
const maxDescriptionBytes = 127

const createdOrder = Compile(
  Type.Object({
    id: Code,
    links: Type.Optional(Type.Array(Type.Object({ rel: Type.String(), href: Type.String() }))),
  }),
)

/**
 * Creates an order. The payer approves it at PayPal's page, or it is paid by a saved method: PayPal completes an order with
 * a `vault_id` in the creating call, as https://developer.paypal.com/docs/checkout/save-payment-methods/ says, and the order
 * shows its capture or authorization. The invoice number is the payment id, because PayPal allows only one payment per
 * invoice number: a repeated call whose key PayPal has forgotten takes no money twice.
 * @returns the order, with the link to PayPal's approval page as `client_secret` and `redirect_url`, if it is not paid
 * @throws ProviderError
 */
export async function createOrder(api: PaypalApi, request: CreateIntent): Promise<ProviderIntent> {
  const { idempotency_key: key, provider_method_id, provider_customer_id } = request
  // Only a method that is attached to a customer is a payment token.
  const vaultId = provider_customer_id === null ? null : provider_method_id
  const purchase = purchaseOf(request)
  const source = vaultId === null ? 'paypal' : await vaultedSource(api, vaultId)
  const body = JSON.stringify({ ...purchase, ...paymentSource(request, source, vaultId) })
  const call = { method: 'POST', path: '/v2/checkout/orders', key, body } as const
  const created = await api.request(createdOrder, call).catch((error: unknown) => {
    // An earlier call with the same saved method was paid, and its response was lost.
    if (vaultId !== null && error instanceof ProviderError && error.code === 'duplicate_invoice_id')
      throw new ProviderError('unknown', error.code, 'PayPal has a payment with this invoice number')
    throw error
  })
  const { id, links = [] } = created.body
  const link = links.find(({ rel }) => rel === 'payer-action') ?? links.find(({ rel }) => rel === 'approve')
  const redirect_url = link && isWebAddress(link.href) ? link.href : null
  return { provider_intent_id: id, client_secret: redirect_url, redirect_url }
}

function purchaseOf({ payment_id, amount_cents, currency, capture_method, ...request }: CreateIntent) {
  const description = shortened(request.description ?? '')
  const { statement_descriptor: soft_descriptor } = request
  return {
    intent: capture_method === 'manual' ? 'AUTHORIZE' : 'CAPTURE',
    purchase_units: [
      {
        custom_id: payment_id,
        invoice_id: payment_id,
        amount: toMoney(amount_cents, currency),
        ...(description === '' ? {} : { description }),
        ...(soft_descriptor === null ? {} : { soft_descriptor }),
      },
    ],
  }
}

/** Nothing unless the order needs it: with a payment source only this kind of method can pay. */
function paymentSource({ return_url, cancel_url }: CreateIntent, kind: string, vaultId: string | null) {
  const urls = { ...(return_url === null ? {} : { return_url }), ...(cancel_url === null ? {} : { cancel_url }) }
  const hasUrls = return_url !== null || cancel_url !== null
  if (!hasUrls && vaultId === null) return {}
  // We take the money when the payer approves, so PayPal's button must not say "Continue". Cards have no such button.
  const context = kind === 'paypal' ? { ...urls, user_action: 'PAY_NOW' } : urls
  const isShown = hasUrls && (kind === 'paypal' || kind === 'card')
  const source = { ...(vaultId === null ? {} : { vault_id: vaultId }), ...(isShown && { experience_context: context }) }
  return { payment_source: { [kind]: source } }
}

function shortened(text: string): string {
  // A streaming decoder drops an incomplete character at the end.
  return new TextDecoder().decode(Buffer.from(text).subarray(0, maxDescriptionBytes), { stream: true })
}

function isWebAddress(text: string): boolean {
  return URL.canParse(text) && ['http:', 'https:'].includes(new URL(text).protocol)
}

/** The capture was rejected because the order is in another state, which the order itself shows. */
const orderMovedOn: ReadonlySet<string> = new Set([
  'order_already_authorized',
  'order_already_captured',
  'order_already_completed',
  'order_not_approved',
  'payer_action_required',
])

/**
 * Captures an approved order, or authorizes it when the payment is captured manually. PayPal does either only once, with
 * any key. If it is rejected because of the order's state, the order is fetched.
 * @throws ProviderError
 */
export async function captureOrder(api: PaypalApi, request: IntentRef & WithKey): Promise<IntentSnapshot> {
  const { provider_intent_id, idempotency_key: key, capture_method } = request
  const path = `${orderPath(provider_intent_id)}/${capture_method === 'manual' ? 'authorize' : 'capture'}`
  try {
    return foundOrder(await api.request(order, { method: 'POST', path, key, body: '{}' })).snapshot
  } catch (error) {
    if (!(error instanceof ErrorResponse)) throw error
    if (error.kind === 'declined') return declinedSnapshot(provider_intent_id, error)
    if (!orderMovedOn.has(error.code)) throw error
    const found = await findOrder(api, provider_intent_id)
    if (found) return found.snapshot
    throw new ProviderError('unknown', error.code, 'The order no longer exists at PayPal')
  }
}

/** The payer approved, but PayPal declined the capture. */
function declinedSnapshot(orderId: string, { code, response }: ErrorResponse): IntentSnapshot {
  return {
    report: {
      status: 'failed',
      provider_time: response.responded_at,
      provider_event_id: null,
      provider_intent_id: orderId,
      provider_payment_id: null,
      amount_cents: null,
      currency: null,
      failure_code: code,
      failure_message: 'PayPal declined the payment',
    },
    further_charges: [],
    awaits_capture: false,
  }
}

const captureResponse = Compile(Capture)

/**
 * Captures the order's authorization, and releases the rest. The key makes a repetition return the first call's capture;
 * when it is forgotten, PayPal does not capture twice, and the order shows the capture.
 * @returns the order's snapshot when nothing can be captured any more
 * @throws ProviderError
 */
export async function captureAuthorized(api: PaypalApi, request: CaptureAuthorized): Promise<IntentSnapshot> {
  const { provider_intent_id, idempotency_key: key, amount_cents, currency } = request
  const found = await findOrder(api, provider_intent_id)
  if (!found) throw new ProviderError('rejected', 'order_not_found', 'PayPal does not know the order')
  const [authorization] = openAuthorizations(found.order).toSorted((a, b) => b.open_cents - a.open_cents)
  if (!authorization) return found.snapshot
  const path = `${authorizationPath(authorization.id)}/capture`
  const body = JSON.stringify({ amount: toMoney(amount_cents, currency), final_capture: true })
  try {
    return captureSnapshot(await api.request(captureResponse, { method: 'POST', path, key, body }), provider_intent_id)
  } catch (error) {
    const isRejected = error instanceof ErrorResponse && error.kind !== 'declined'
    const now = isRejected ? await findOrder(api, provider_intent_id) : null
    if (now && !now.snapshot.report.capturable_cents) return now.snapshot
    throw error
  }
}

/** @throws ProviderError `declined` for a declined capture, after which the money is still authorized */
function captureSnapshot(
  { body: capture, responded_at }: ApiResponse<Capture>,
  provider_intent_id: string,
): IntentSnapshot {
  const status = statusOfCapture(capture)
  const own = captureReport(capture)
  if (status === 'failed')
    throw new ProviderError('declined', own.failure_code ?? 'capture_declined', 'PayPal could not capture the payment')
  const source = { provider_time: responded_at, provider_event_id: null, provider_intent_id }
  const report = { ...own, ...source, ...(status === 'processing' && { capturable_cents: 0 }) }
  return { report, further_charges: [], awaits_capture: false }
}

/**
 * Voids what is authorized. PayPal cannot cancel an order that is not authorized: it lapses after some hours, and we never
 * capture it.
 * @returns `canceled`; the order's snapshot when money was taken, or will be; `null` for an unknown order
 * @throws ProviderError
 */
export async function cancelOrder(api: PaypalApi, request: IntentRef & WithKey): Promise<IntentSnapshot | null> {
  const found = await findOrder(api, request.provider_intent_id)
  if (!found) return null
  const { snapshot, responded_at } = found
  if (isTaken(snapshot)) return snapshot
  for (const id of voidableAuthorizations(found.order)) {
    const key = `${request.idempotency_key}-${id}`
    try {
      await api.request(noContent, { method: 'POST', path: `${authorizationPath(id)}/void`, key, body: '{}' })
    } catch (error) {
      if (!(error instanceof ErrorResponse)) throw error
      const now = await findOrder(api, request.provider_intent_id)
      if (now && isTaken(now.snapshot)) return now.snapshot
      if (now && voidableAuthorizations(now.order).includes(id)) throw error
    }
  }
  return canceledSnapshot(snapshot, responded_at)
}

/** Whether a capture took the money, or is pending. */
const isTaken = ({ report: { status, provider_payment_id } }: IntentSnapshot) =>
  status === 'succeeded' || (status === 'processing' && provider_payment_id !== null)

function canceledSnapshot({ report, refunds }: IntentSnapshot, provider_time: string): IntentSnapshot {
  const { provider_intent_id, amount_cents, currency } = report
  const source = { provider_time, provider_event_id: null, provider_intent_id, provider_payment_id: null }
  return {
    report: { status: 'canceled', ...source, amount_cents, currency },
    further_charges: [],
    awaits_capture: false,
    ...(refunds && { refunds }),
  }
}

const authorizationPath = (id: string) => `/v2/payments/authorizations/${encodeURIComponent(id)}`

const refundResponse = Compile(Refund)

/**
 * Refunds the payment's capture. Without its id, the order's only capture is meant. PayPal keeps the key for 45 days.
 * @throws ProviderError; `rejected` with PayPal's issue as its code when PayPal does not refund the capture
 */
export async function refundPayment(api: PaypalApi, request: RefundCharge): Promise<ReportedRefund> {
  const { payment_id, refund_id, amount_cents, currency, idempotency_key: key, provider_intent_id } = request
  const captureId = request.provider_payment_id ?? (await onlyCapture(api, request))
  if (captureId === null) throw rejectedRefund('capture_not_found')
  const custom_id = refundCustomId(payment_id, refund_id)
  const path = `/v2/payments/captures/${encodeURIComponent(captureId)}/refund`
  const body = JSON.stringify({ amount: toMoney(amount_cents, currency), custom_id })
  const call = { method: 'POST', path, key, body } as const
  const refunded = await api.request(refundResponse, call).catch((error: unknown) => {
    throw error instanceof ErrorResponse ? rejectedRefund(error.code) : error
  })
  const { responded_at } = refunded
  const reported = reportedRefund(refunded.body, { provider_intent_id, provider_payment_id: captureId, responded_at })
  return { ...reported, refund_id, ...(reported.amount_cents === null && { amount_cents, currency }) }
}

async function onlyCapture(api: PaypalApi, { provider_intent_id }: IntentRef) {
  const found = await findOrder(api, provider_intent_id)
  const captures = found ? capturesOf(found.order).filter((each) => statusOfCapture(each) === 'succeeded') : []
  return captures.length === 1 ? (captures[0]?.id ?? null) : null
}

const rejectedRefund = (code: string) => new ProviderError('rejected', code, 'PayPal rejected the refund')
