// Authorized money: capturing and voiding it, and canceling orders, which PayPal itself cannot.
import { Compile } from 'typebox/compile'
import {
  type CaptureAuthorized,
  type IntentRef,
  type IntentSnapshot,
  ProviderError,
  type WithKey,
} from '../provider.ts'
import { type ApiResponse, ErrorResponse } from '../providerApi.ts'
import { noContent, type PaypalApi } from './client.ts'
import { Capture, captureEvidence, statusOfCapture, toMoney } from './fields.ts'
import { findOrder } from './orders.ts'
import { openAuthorizations, voidableAuthorizations } from './snapshots.ts'

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
    if (now && !now.snapshot.evidence.capturable_cents) return now.snapshot
    throw error
  }
}

/** @throws ProviderError `declined` for a declined capture, after which the money is still authorized */
function captureSnapshot(
  { body: capture, responded_at }: ApiResponse<Capture>,
  provider_intent_id: string,
): IntentSnapshot {
  const status = statusOfCapture(capture)
  const own = captureEvidence(capture)
  if (status === 'failed')
    throw new ProviderError('declined', own.failure_code ?? 'capture_declined', 'PayPal could not capture the payment')
  const source = { provider_time: responded_at, provider_event_id: null, provider_intent_id }
  const evidence = { ...own, ...source, ...(status === 'processing' && { capturable_cents: 0 }) }
  return { evidence, further_charges: [], awaits_capture: false }
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
  const { snapshot, order, responded_at } = found
  if (isTaken(snapshot)) return snapshot
  for (const id of voidableAuthorizations(order)) {
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
const isTaken = ({ evidence: { status, provider_payment_id } }: IntentSnapshot) =>
  status === 'succeeded' || (status === 'processing' && provider_payment_id !== null)

function canceledSnapshot({ evidence, refunds }: IntentSnapshot, provider_time: string): IntentSnapshot {
  const { provider_intent_id, amount_cents, currency } = evidence
  const source = { provider_time, provider_event_id: null, provider_intent_id, provider_payment_id: null }
  return {
    evidence: { status: 'canceled', ...source, amount_cents, currency },
    further_charges: [],
    awaits_capture: false,
    ...(refunds && { refunds }),
  }
}

const authorizationPath = (id: string) => `/v2/payments/authorizations/${encodeURIComponent(id)}`
