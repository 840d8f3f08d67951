// PayPal orders v2: an order is the intent, the payer approves it at PayPal, and its capture takes the money.
import { type IntentRef, type IntentSnapshot, ProviderError, type WithKey } from '../provider.ts'
import { type ApiResponse, ErrorResponse } from '../providerApi.ts'
import { nullIfMissing, type PaypalApi } from './client.ts'
import { type Order, order, snapshotOf } from './snapshots.ts'

/** The capture was rejected because the order is in another state, which the order itself shows. */
const orderMovedOn: ReadonlySet<string> = new Set([
  'order_already_authorized',
  'order_already_captured',
  'order_already_completed',
  'order_not_approved',
  'payer_action_required',
])

export type FoundOrder = { readonly order: Order; readonly snapshot: IntentSnapshot; readonly responded_at: string }

/**
 * The order's current state. `null` when PayPal does not know the order: unapproved orders expire after some hours.
 * That does not prove that it was never paid, because an order of another account is unknown in the same way.
 * @throws ProviderError
 */
export async function findOrder(api: PaypalApi, orderId: string): Promise<FoundOrder | null> {
  const found = await api.request(order, { method: 'GET', path: orderPath(orderId) }).catch(nullIfMissing)
  return found && foundOrder(found)
}

function foundOrder({ body, responded_at }: ApiResponse<Order>): FoundOrder {
  return { order: body, snapshot: snapshotOf(body, responded_at), responded_at }
}

/** @returns the order's snapshot, see `findOrder` */
export async function retrieveOrder(api: PaypalApi, orderId: string): Promise<IntentSnapshot | null> {
  return (await findOrder(api, orderId))?.snapshot ?? null
}

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
    evidence: {
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

const orderPath = (orderId: string) => `/v2/checkout/orders/${encodeURIComponent(orderId)}`
