// Cancels payments at Authorize.Net, and captures authorized ones.
import {
  type CaptureAuthorized,
  type IntentRef,
  type IntentSnapshot,
  ProviderError,
  type ProviderErrorKind,
} from '../provider.ts'
import type { Api, Transaction } from './api.ts'
import { evidenceOf, toDecimal } from './fields.ts'
import type { Gateway } from './gateway.ts'
import { findPayment, snapshotOf, unpaidSnapshot } from './intents.ts'
import { isCapturable, statusOf } from './statuses.ts'
import { type Submitted, submitTransaction } from './submit.ts'
import { type Read, readTransaction } from './transactions.ts'

/**
 * Cancels a payment that nobody has paid, and voids what is authorized. A token cannot be taken back: it opens the form until
 * it is 15 minutes old, and money that still arrives is money after a cancellation.
 * @returns `null` when the gateway does not know the recorded transaction
 * @throws ProviderError
 */
export async function cancelIntent(gateway: Gateway, intent: IntentRef): Promise<IntentSnapshot | null> {
  const found = await findPayment(gateway, intent)
  const [best] = found?.attempts ?? []
  if (!found || best?.status === 'succeeded') return found && snapshotOf(intent, found)
  const authorized = found.attempts.filter(({ body }) => isCapturable(body))
  // What is held for review is for the merchant to decline.
  if (best?.status === 'processing' && authorized.length === 0) return snapshotOf(intent, found)
  let { responded_at } = found
  for (const { body } of authorized) {
    try {
      responded_at = (await voidTransaction(gateway.api, body.transId)).responded_at
    } catch (error) {
      // Somebody may have captured or voided it since.
      const now = isRejection(error) ? await findPayment(gateway, intent) : null
      if (now?.attempts.some((attempt) => attempt.body.transId === body.transId && !isCapturable(attempt.body)))
        return snapshotOf(intent, now)
      throw error
    }
  }
  const canceled = unpaidSnapshot(intent, { responded_at }, 'canceled')
  const provider_payment_id = authorized[0]?.body.transId ?? null
  return { ...canceled, evidence: { ...canceled.evidence, provider_payment_id } }
}

/** Voiding a transaction again is a success. @throws ProviderError */
export function voidTransaction(api: Api, refTransId: string): Promise<Submitted> {
  return submitTransaction(api, { transactionType: 'voidTransaction', refTransId })
}

const rejections: ReadonlySet<ProviderErrorKind> = new Set(['rejected', 'declined'])

/** Whether the gateway did nothing, because of the transaction's state. */
export function isRejection(error: unknown): error is ProviderError {
  return error instanceof ProviderError && rejections.has(error.kind)
}

/** «This transaction has already been captured.» */
const capturedBefore = '311'

/**
 * Captures an authorized transaction; the gateway releases the rest.
 * @returns the snapshot of a payment that has nothing to capture any more, too
 * @throws ProviderError
 */
export async function captureAuthorized(gateway: Gateway, request: CaptureAuthorized): Promise<IntentSnapshot> {
  const transaction = await authorizedTransaction(gateway, request)
  if (transaction === null)
    throw new ProviderError('rejected', 'transaction_not_found', 'Authorize.Net does not know the transaction')
  const currency = await gateway.currency()
  if (!isCapturable(transaction.body)) return readSnapshot(request, transaction, currency)
  const { transId } = transaction.body
  const amount = toDecimal(request.amount_cents)
  const transactionRequest = { transactionType: 'priorAuthCaptureTransaction', amount, refTransId: transId }
  try {
    const { code, responded_at } = await submitTransaction(gateway.api, transactionRequest)
    // An earlier capture may have been of another amount.
    if (code === capturedBefore) return await changedSnapshot(gateway, request, transId)
    const { evidence, ...snapshot } = readSnapshot(request, transaction, currency)
    const { capturable_cents: _, ...captured } = evidence
    const { amount_cents } = request
    return {
      ...snapshot,
      evidence: { ...captured, status: 'succeeded', amount_cents, provider_time: responded_at },
    }
  } catch (error) {
    if (!isRejection(error)) throw error
    return await changedSnapshot(gateway, request, transId).catch(() => Promise.reject(error))
  }
}

async function authorizedTransaction(gateway: Gateway, intent: IntentRef): Promise<Read<Transaction> | null> {
  const { provider_payment_id } = intent
  if (provider_payment_id !== null) return readTransaction(gateway.api, provider_payment_id)
  const found = await findPayment(gateway, intent)
  return found?.attempts.find(({ body }) => isCapturable(body)) ?? found?.attempts[0] ?? null
}

/** @throws ProviderError while the gateway still reports the authorization */
async function changedSnapshot(gateway: Gateway, request: IntentRef, transId: string): Promise<IntentSnapshot> {
  const now = await readTransaction(gateway.api, transId)
  if (now === null || isCapturable(now.body))
    throw new ProviderError('unknown', 'not_reported_yet', 'Authorize.Net does not report this transaction yet')
  return readSnapshot(request, now, await gateway.currency())
}

function readSnapshot(
  { provider_intent_id }: IntentRef,
  { body, responded_at }: Read<Transaction>,
  currency: string | null,
): IntentSnapshot {
  const source = { provider_time: responded_at, provider_event_id: null, currency }
  return {
    evidence: { ...evidenceOf(body, statusOf(body), source), provider_intent_id },
    further_charges: [],
    awaits_capture: false,
  }
}
