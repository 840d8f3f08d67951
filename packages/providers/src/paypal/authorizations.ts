// Authorized money: capturing and voiding it, and canceling orders, which PayPal itself cannot.
import { Compile } from 'typebox/compile'
import { type HttpResponse, readResponse } from '../http.ts'
import {
  type CaptureAuthorized,
  type IntentRef,
  type IntentSnapshot,
  ProviderError,
  type WithKey,
} from '../provider.ts'
import { respondedAt } from '../responses.ts'
import { isDecline, type PaypalClient, rejectionError } from './client.ts'
import { Capture, captureEvidence, statusOfCapture, toMoney } from './fields.ts'
import { deadline, findOrder } from './orders.ts'
import { openAuthorizations, voidableAuthorizations } from './snapshots.ts'

const captureResponse = Compile(Capture)

/**
 * Captures the order's authorization, and releases the rest. The key makes a repetition return the first call's capture;
 * when it is forgotten, PayPal does not capture twice, and the order shows the capture.
 * @returns the order's snapshot when nothing can be captured any more
 * @throws ProviderError
 */
export async function captureAuthorized(client: PaypalClient, request: CaptureAuthorized): Promise<IntentSnapshot> {
  const { provider_intent_id, idempotency_key: key, amount_cents, currency } = request
  const remainingMs = deadline(client)
  const found = await findOrder(client, provider_intent_id, remainingMs())
  if (!found) throw new ProviderError('rejected', 'order_not_found', 'PayPal does not know the order')
  const [authorization] = openAuthorizations(found.order).toSorted((a, b) => b.open_cents - a.open_cents)
  if (!authorization) return found.snapshot
  const path = `${authorizationPath(authorization.id)}/capture`
  const body = JSON.stringify({ amount: toMoney(amount_cents, currency), final_capture: true })
  const read = (response: HttpResponse) => captureSnapshot(response, provider_intent_id)
  const captured = await client.call({ method: 'POST', path, key, body }, read, remainingMs())
  if (!captured.rejection) return captured.value
  const { rejection } = captured
  const now = isDecline(rejection) ? null : await findOrder(client, provider_intent_id, remainingMs())
  if (now && !now.snapshot.evidence.capturable_cents) return now.snapshot
  throw rejectionError(rejection)
}

/** @throws ProviderError `declined` for a declined capture, after which the money is still authorized */
function captureSnapshot(response: HttpResponse, provider_intent_id: string): IntentSnapshot {
  const capture = readResponse(captureResponse, response)
  const status = statusOfCapture(capture)
  const own = captureEvidence(capture)
  if (status === 'failed')
    throw new ProviderError('declined', own.failure_code ?? 'capture_declined', 'PayPal could not capture the payment')
  const source = { provider_time: respondedAt(response.headers), provider_event_id: null, provider_intent_id }
  const evidence = { ...own, ...source, ...(status === 'processing' && { capturable_cents: 0 }) }
  return { evidence, further_charges: [], awaits_capture: false }
}

/**
 * Voids what is authorized. PayPal cannot cancel an order that is not authorized: it lapses after some hours, and we never
 * capture it.
 * @returns `canceled`; the order's snapshot when money was taken, or will be; `null` for an unknown order
 * @throws ProviderError
 */
export async function cancelOrder(client: PaypalClient, request: IntentRef & WithKey): Promise<IntentSnapshot | null> {
  const remainingMs = deadline(client)
  const found = await findOrder(client, request.provider_intent_id, remainingMs())
  if (!found) return null
  const { snapshot, order, respondedAt: time } = found
  if (isTaken(snapshot)) return snapshot
  for (const id of voidableAuthorizations(order)) {
    const key = `${request.idempotency_key}-${id}`
    const call = { method: 'POST', path: `${authorizationPath(id)}/void`, key, body: '{}' } as const
    const { rejection } = await client.call(call, () => undefined, remainingMs())
    if (!rejection) continue
    const now = await findOrder(client, request.provider_intent_id, remainingMs())
    if (now && isTaken(now.snapshot)) return now.snapshot
    if (now && voidableAuthorizations(now.order).includes(id)) throw rejectionError(rejection)
  }
  return canceledSnapshot(snapshot, time)
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
