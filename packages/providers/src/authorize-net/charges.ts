// What we do with a charge at Authorize.Net: cancel, capture and refund it. A settled transaction is refunded, by another
// transaction; until then it can only be voided.
import { DomainError } from '@paylog/domain/errors'
import {
  type CaptureAuthorized,
  type IntentRef,
  type IntentSnapshot,
  ProviderError,
  type ProviderErrorKind,
  type RefundCharge,
  type ReportedRefund,
} from '../provider.ts'
import {
  type Api,
  duplicateWindow,
  type Read,
  readTransaction,
  type Submitted,
  submitTransaction,
  type Transaction,
} from './api.ts'
import { findPayment, snapshotOf, unpaidSnapshot } from './intents.ts'
import { clockMarginMs, findTransactions, type MerchantAccount } from './merchantAccount.ts'
import {
  isCapturable,
  isSettling,
  refundDescription,
  refundIdOf,
  reportedRefundOf,
  statusOf,
  statusReportOf,
  toDecimal,
} from './transactions.ts'

/**
 * Cancels a payment that nobody has paid, and voids what is authorized. A token cannot be taken back: it opens the form until
 * it is 15 minutes old, and money that still arrives is money after a cancellation.
 * @returns `null` when the gateway does not know the recorded transaction
 * @throws ProviderError
 */
export async function cancelIntent(merchant: MerchantAccount, intent: IntentRef): Promise<IntentSnapshot | null> {
  const found = await findPayment(merchant, intent)
  const [best] = found?.attempts ?? []
  if (!found || best?.status === 'succeeded') return found && snapshotOf(intent, found)
  const authorized = found.attempts.filter(({ body }) => isCapturable(body))
  // What is held for review is for the merchant to decline.
  if (best?.status === 'processing' && authorized.length === 0) return snapshotOf(intent, found)
  let { responded_at } = found
  for (const { body } of authorized) {
    try {
      responded_at = (await voidTransaction(merchant.api, body.transId)).responded_at
    } catch (error) {
      // Somebody may have captured or voided it since.
      const now = isRejection(error) ? await findPayment(merchant, intent) : null
      if (now?.attempts.some((attempt) => attempt.body.transId === body.transId && !isCapturable(attempt.body)))
        return snapshotOf(intent, now)
      throw error
    }
  }
  const canceled = unpaidSnapshot(intent, { responded_at }, 'canceled')
  const provider_payment_id = authorized[0]?.body.transId ?? null
  return { ...canceled, report: { ...canceled.report, provider_payment_id } }
}

/** Voiding a transaction again is a success. @throws ProviderError */
function voidTransaction(api: Api, refTransId: string): Promise<Submitted> {
  return submitTransaction(api, { transactionType: 'voidTransaction', refTransId })
}

const rejections: ReadonlySet<ProviderErrorKind> = new Set(['rejected', 'declined'])

/** Whether the gateway did nothing, because of the transaction's state. */
function isRejection(error: unknown): error is ProviderError {
  return error instanceof ProviderError && rejections.has(error.kind)
}

/** «This transaction has already been captured.» */
const capturedBefore = '311'

/**
 * Captures an authorized transaction; the gateway releases the rest.
 * @returns the snapshot of a payment that has nothing to capture any more, too
 * @throws ProviderError
 */
export async function captureAuthorized(
  merchant: MerchantAccount,
  request: CaptureAuthorized,
): Promise<IntentSnapshot> {
  const transaction = await authorizedTransaction(merchant, request)
  if (transaction === null)
    throw new ProviderError('rejected', 'transaction_not_found', 'Authorize.Net does not know the transaction')
  const currency = await merchant.currency()
  if (!isCapturable(transaction.body)) return readSnapshot(request, transaction, currency)
  const { transId } = transaction.body
  const amount = toDecimal(request.amount_cents)
  const transactionRequest = { transactionType: 'priorAuthCaptureTransaction', amount, refTransId: transId }
  try {
    const { code, responded_at } = await submitTransaction(merchant.api, transactionRequest)
    // An earlier capture may have been of another amount.
    if (code === capturedBefore) return await changedSnapshot(merchant, request, transId)
    const { report, ...snapshot } = readSnapshot(request, transaction, currency)
    const { capturable_cents: _, ...captured } = report
    const { amount_cents } = request
    return {
      ...snapshot,
      report: { ...captured, status: 'succeeded', amount_cents, provider_time: responded_at },
    }
  } catch (error) {
    if (!isRejection(error)) throw error
    return await changedSnapshot(merchant, request, transId).catch(() => Promise.reject(error))
  }
}

async function authorizedTransaction(merchant: MerchantAccount, intent: IntentRef): Promise<Read<Transaction> | null> {
  const { provider_payment_id } = intent
  if (provider_payment_id !== null) return readTransaction(merchant.api, provider_payment_id)
  const found = await findPayment(merchant, intent)
  return found?.attempts.find(({ body }) => isCapturable(body)) ?? found?.attempts[0] ?? null
}

/** @throws ProviderError while the gateway still reports the authorization */
async function changedSnapshot(
  merchant: MerchantAccount,
  request: IntentRef,
  transId: string,
): Promise<IntentSnapshot> {
  const now = await readTransaction(merchant.api, transId)
  if (now === null || isCapturable(now.body))
    throw new ProviderError('unknown', 'not_reported_yet', 'Authorize.Net does not report this transaction yet')
  return readSnapshot(request, now, await merchant.currency())
}

function readSnapshot(
  { provider_intent_id }: IntentRef,
  { body, responded_at }: Read<Transaction>,
  currency: string | null,
): IntentSnapshot {
  const source = { provider_time: responded_at, provider_event_id: null, currency }
  return {
    report: { ...statusReportOf(body, statusOf(body), source), provider_intent_id },
    further_charges: [],
    awaits_capture: false,
  }
}

const dayMs = 24 * 60 * 60 * 1000

/**
 * Checks, before a refund is recorded, that its charge can be refunded by a part: only a settled one can. The refund itself
 * finds out when the gateway does not respond.
 * @throws DomainError `payment_not_refundable` with `settles_at`, when the gateway's next daily settlement is expected
 */
export async function checkRefund(merchant: MerchantAccount, request: RefundCharge): Promise<void> {
  if (request.is_whole) return
  try {
    const charge = await readCharge(merchant, request)
    if (!isSettling(charge.body)) return
    const settles_at = await nextSettlement(merchant, charge)
    const message = 'Authorize.Net refunds a part of a payment only after its settlement'
    throw new DomainError('payment_not_refundable', message, { settles_at })
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error
  }
}

/** The gateway settles once a day, at a time of the merchant's that it does not name: a day after the last settlement. */
async function nextSettlement({ lists }: MerchantAccount, { body, responded_at }: Read<Transaction>): Promise<string> {
  const now = Date.parse(responded_at)
  const batches = await lists.batches({ first: now - 3 * dayMs, last: now }, { asOf: Date.now() })
  const settled = batches.map(({ settledAt }) => settledAt).filter((at) => at <= now)
  const submitted = Date.parse(body.submitTimeUTC ?? '')
  const last = settled.length > 0 ? Math.max(...settled) : Number.isNaN(submitted) ? now : submitted
  const days = Math.max(Math.floor((now - last) / dayMs), 0) + 1
  return new Date(last + days * dayMs).toISOString()
}

/**
 * Gives money of a charge back. There are no idempotency keys: a repeated call first searches for the refund of the earlier one,
 * and while that may not be reported yet, the gateway rejects it as a duplicate.
 * @throws ProviderError, also `unknown` for a duplicate: the refund exists, and a later search finds it
 */
export async function refund(merchant: MerchantAccount, request: RefundCharge): Promise<ReportedRefund> {
  const earlier = request.is_repeated ? await merchant.search(() => findOwnRefund(merchant, request)) : null
  if (earlier) return earlier
  const charge = await readCharge(merchant, request)
  if (charge.body.transactionStatus === 'voided' && request.is_whole) return voidedRefund(request, charge.responded_at)
  if (!isSettling(charge.body)) return submitRefund(merchant, request, charge.body)
  if (!request.is_whole)
    throw new ProviderError('rejected', 'not_settled', 'Authorize.Net refunds a part only after the settlement')
  try {
    const { responded_at } = await voidTransaction(merchant.api, charge.body.transId)
    return voidedRefund(request, responded_at)
  } catch (error) {
    // It may have settled since.
    const now = isRejection(error) ? await readCharge(merchant, request) : charge
    if (now.body.transactionStatus !== 'settledSuccessfully') throw error
    return submitRefund(merchant, request, now.body)
  }
}

async function readCharge({ api }: MerchantAccount, { provider_payment_id }: RefundCharge): Promise<Read<Transaction>> {
  const found = provider_payment_id === null ? null : await readTransaction(api, provider_payment_id)
  if (found) return found
  throw new ProviderError('rejected', 'transaction_not_found', 'Authorize.Net does not know the transaction')
}

/** Refunds are few, and the newest come first in the lists. */
const maxCandidates = 20

/** The gateway's refund that names ours. A declined one gave nothing back, so it does not count. */
async function findOwnRefund(merchant: MerchantAccount, request: RefundCharge): Promise<ReportedRefund | null> {
  const { api, lists } = merchant
  const { provider_intent_id, provider_payment_id, refund_id } = request
  const { body: summaries } = await findTransactions({
    lists,
    invoiceNumber: provider_intent_id,
    submitted: { first: Date.parse(request.requested_at), last: Date.now() + clockMarginMs },
    isWide: true,
    isEnough: () => false,
    asOf: Date.now(),
  })
  const candidates = summaries.filter(({ transId }) => transId !== provider_payment_id)
  if (candidates.length > maxCandidates)
    throw new ProviderError('unknown', 'search_too_large', 'There are too many refunds to search')
  const currency = candidates.length > 0 ? await merchant.currency() : null
  for (const { transId } of candidates) {
    const found = await readTransaction(api, transId)
    if (!found) throw new ProviderError('unknown', 'not_reported_yet', 'Authorize.Net does not report a refund yet')
    if (refundIdOf(found.body) !== refund_id) continue
    const reported = reportedRefundOf(found, { provider_intent_id, currency })
    if (reported) return reported
  }
  return null
}

async function submitRefund(
  { api }: MerchantAccount,
  request: RefundCharge,
  charge: Transaction,
): Promise<ReportedRefund> {
  const { refund_id, provider_intent_id } = request
  const transactionRequest = {
    transactionType: 'refundTransaction',
    amount: toDecimal(request.amount_cents),
    currencyCode: request.currency,
    payment: accountOf(charge),
    refTransId: charge.transId,
    order: { invoiceNumber: provider_intent_id, description: refundDescription(refund_id) },
    // The gateway compares it, so that only a repetition of the same refund is a duplicate.
    poNumber: refund_id.replaceAll('-', '').slice(-maxPoNumberLength),
    transactionSettings: { setting: [duplicateWindow] },
  }
  const { transId, responded_at } = await submitTransaction(api, transactionRequest, { repeat: 'once' })
  return succeededRefund(request, { provider_refund_id: transId, responded_at })
}

const maxPoNumberLength = 25

/** The gateway checks the last digits against the charge, and needs no expiration date. */
function accountOf(charge: Transaction) {
  const { creditCard, bankAccount } = charge.payment ?? {}
  if (creditCard) return { creditCard: { cardNumber: creditCard.cardNumber.slice(-4), expirationDate: 'XXXX' } }
  if (!bankAccount)
    throw new ProviderError('rejected', 'no_account', 'Authorize.Net does not name the account to refund')
  const { accountType, routingNumber, accountNumber, nameOnAccount } = bankAccount
  return { bankAccount: { accountType, routingNumber, accountNumber, nameOnAccount } }
}

/** A void is no separate transaction. */
const voidedRefund = (request: RefundCharge, responded_at: string) =>
  succeededRefund(request, { provider_refund_id: request.provider_payment_id, responded_at })

function succeededRefund(
  { provider_intent_id, provider_payment_id, refund_id, amount_cents, currency }: RefundCharge,
  of: { readonly provider_refund_id: string | null; readonly responded_at: string },
): ReportedRefund {
  return {
    provider_time: of.responded_at,
    provider_event_id: null,
    provider_intent_id,
    provider_payment_id,
    refund_id,
    provider_refund_id: of.provider_refund_id,
    amount_cents,
    currency,
    status: 'succeeded',
  }
}
