// PayPal orders v2: an order is the intent, the payer approves it at PayPal, and its capture takes the money.
import { type HttpResponse, readResponse } from '../http.ts'
import { type IntentRef, type IntentSnapshot, ProviderError, type WithKey } from '../provider.ts'
import { respondedAt } from '../responses.ts'
import { isDecline, type PaypalClient, rejectionError } from './client.ts'
import { type Order, order, snapshotOf } from './snapshots.ts'

/** The capture was rejected because the order is in another state, which the order itself shows. */
const orderMovedOnIssues: ReadonlySet<string> = new Set([
  'ORDER_ALREADY_AUTHORIZED',
  'ORDER_ALREADY_CAPTURED',
  'ORDER_ALREADY_COMPLETED',
  'ORDER_NOT_APPROVED',
  'PAYER_ACTION_REQUIRED',
])

export type FoundOrder = { readonly order: Order; readonly snapshot: IntentSnapshot; readonly respondedAt: string }

/**
 * The order's current state. `null` when PayPal does not know the order: unapproved orders expire after some hours.
 * That does not prove that it was never paid, because an order of another account is unknown in the same way.
 * @throws ProviderError
 */
export async function findOrder(
  client: PaypalClient,
  orderId: string,
  timeoutMs = client.timeoutMs,
): Promise<FoundOrder | null> {
  const found = await client.call({ method: 'GET', path: orderPath(orderId) }, readOrder, timeoutMs)
  if (!found.rejection) return found.value
  if (found.rejection.status === 404) return null
  throw rejectionError(found.rejection)
}

/** @returns the order's snapshot, see `findOrder` */
export async function retrieveOrder(client: PaypalClient, orderId: string): Promise<IntentSnapshot | null> {
  return (await findOrder(client, orderId))?.snapshot ?? null
}

/**
 * Captures an approved order, or authorizes it when the payment is captured manually. PayPal does either only once, with
 * any key. If it is rejected because of the order's state, the order is fetched within the same time limit.
 * @throws ProviderError
 */
export async function captureOrder(client: PaypalClient, request: IntentRef & WithKey): Promise<IntentSnapshot> {
  const remainingMs = deadline(client)
  const { provider_intent_id, idempotency_key, capture_method } = request
  const path = `${orderPath(provider_intent_id)}/${capture_method === 'manual' ? 'authorize' : 'capture'}`
  const captured = await client.call({ method: 'POST', path, key: idempotency_key, body: '{}' }, readOrder)
  if (!captured.rejection) return captured.value.snapshot
  const { rejection, response } = captured
  if (isDecline(rejection)) return declinedSnapshot(provider_intent_id, rejection.issue.toLowerCase(), response)
  if (!orderMovedOnIssues.has(rejection.issue)) throw rejectionError(rejection)
  const found = await findOrder(client, provider_intent_id, remainingMs())
  if (found) return found.snapshot
  throw new ProviderError('unknown', rejection.issue.toLowerCase(), 'The order no longer exists at PayPal')
}

/** @throws ProviderError `unknown` when it is unreadable */
function readOrder(response: HttpResponse): FoundOrder {
  const read = readResponse(order, response)
  const time = respondedAt(response.headers)
  return { order: read, snapshot: snapshotOf(read, time), respondedAt: time }
}

/** The payer approved, but PayPal declined the capture. */
function declinedSnapshot(orderId: string, failure_code: string, response: HttpResponse): IntentSnapshot {
  return {
    evidence: {
      status: 'failed',
      provider_time: respondedAt(response.headers),
      provider_event_id: null,
      provider_intent_id: orderId,
      provider_payment_id: null,
      amount_cents: null,
      currency: null,
      failure_code,
      failure_message: 'PayPal declined the payment',
    },
    further_charges: [],
    awaits_capture: false,
  }
}

/** The time that is left of one call's limit. */
export function deadline({ timeoutMs }: PaypalClient): () => number {
  const giveUpAt = performance.now() + timeoutMs
  return () => giveUpAt - performance.now()
}

const orderPath = (orderId: string) => `/v2/checkout/orders/${encodeURIComponent(orderId)}`
