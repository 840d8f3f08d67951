// Authorize.Net's intents: what the transactions of an invoice number say about a payment.
import type { PaymentStatus } from '@paylog/domain/payments/payment'
import { type IntentRef, type IntentSnapshot, ProviderError, type ProviderIds } from '../provider.ts'
import { nullIfRejected } from '../responses.ts'
import { type Api, type Read, readTransaction, type Transaction, type TransactionSummary } from './api.ts'
import { findTransactions, type MerchantAccount, type TransactionSearch } from './merchantAccount.ts'
import {
  isRefund,
  isReturn,
  isTransactionId,
  paymentIdOf,
  reportedRefundOf,
  reversalsOf,
  statusOf,
  statusOfTransactionStatus,
  statusReportOf,
} from './transactions.ts'

/** How long a token opens the form. */
const tokenLifeMs = 15 * 60 * 1000

/** How long a payment can be paid: a client may request new tokens for a while. */
const payableMs = 24 * 60 * 60 * 1000

/** The transactions of a payment. */
type FoundTransactions = InvoiceTransactions & {
  readonly responded_at: string
  readonly currency: string | null
}

/**
 * Finds a payment's state from all transactions with its invoice number. Tokens cannot be retrieved, so no transaction
 * means an unpaid payment. A recorded transaction is read by its id, so that the search cannot miss it; others may
 * have been paid too.
 * @returns `null` only when the gateway does not know the recorded transaction
 * @throws ProviderError
 */
export async function retrieveIntent(merchant: MerchantAccount, intent: IntentRef): Promise<IntentSnapshot | null> {
  const found = await findPayment(merchant, intent)
  return found && snapshotOf(intent, found)
}

/** @returns `null` only when the gateway does not know the recorded transaction @throws ProviderError */
export function findPayment(merchant: MerchantAccount, intent: IntentRef): Promise<FoundTransactions | null> {
  return merchant.search(() => searchPayment(merchant, intent))
}

async function searchPayment(merchant: MerchantAccount, intent: IntentRef): Promise<FoundTransactions | null> {
  const { api, lists } = merchant
  const { provider_payment_id, provider_intent_id: invoiceNumber } = intent
  const response = provider_payment_id === null ? null : await readTransaction(api, provider_payment_id)
  const known = response && { ...response, status: statusOf(response.body) }
  // Before the search, which may use up the time.
  const currency = known && (await merchant.currency())
  const first = Date.parse(intent.created_at)
  const submitted = { first, last: first + payableMs }
  const isWide = provider_payment_id !== null
  const asOf = intent.as_of === undefined ? Date.now() : Date.parse(intent.as_of)
  const search = { api, lists, invoiceNumber, submitted, isWide, asOf }
  try {
    const { body, responded_at } = await findAttempts(search, known)
    if (body.attempts.length === 0 && provider_payment_id !== null) return null
    return {
      ...body,
      responded_at,
      currency: body.attempts.length > 0 ? (known ? currency : await merchant.currency()) : null,
    }
  } catch (error) {
    if (!(error instanceof ProviderError) || !known || !isConclusive(known)) throw error
    return { attempts: [known], refunds: [], returns: [], responded_at: known.responded_at, currency }
  }
}

/**
 * An invoice number leads to its payment without a call. A transaction alone is read for its invoice number.
 * @throws ProviderError
 */
export async function findPaymentId(
  { api }: MerchantAccount,
  { provider_intent_id, provider_payment_id }: ProviderIds,
): Promise<string | null> {
  if (provider_intent_id !== null) return paymentIdOf(provider_intent_id)
  if (provider_payment_id === null || !isTransactionId(provider_payment_id)) return null
  const found = await readTransaction(api, provider_payment_id).catch(nullIfRejected)
  return paymentIdOf(found?.body.order?.invoiceNumber)
}

/** A failed or canceled attempt may have been followed by another one. */
function isConclusive({ status }: Attempt): boolean {
  return status === 'succeeded' || status === 'processing'
}

export function snapshotOf(intent: IntentRef, found: FoundTransactions): IntentSnapshot {
  const { attempts, refunds, returns, currency } = found
  const [best, ...others] = attempts
  if (!best) return unpaidSnapshot(intent, found, 'pending')
  const { provider_intent_id } = intent
  const reversals = [...attempts, ...returns].flatMap(({ body }) => reversalsOf(body))
  const source = { provider_time: best.responded_at, provider_event_id: null, currency }
  const reported = refunds.flatMap((refund) => reportedRefundOf(refund, { provider_intent_id, currency }) ?? [])
  return {
    report: {
      ...statusReportOf(best.body, best.status, source),
      provider_intent_id,
      ...(reversals.length > 0 && { reversals }),
    },
    further_charges: others
      .filter(({ status }) => status === 'succeeded')
      .map(({ body, status }) => ({
        provider_payment_id: body.transId,
        amount_cents: statusReportOf(body, status, source).amount_cents,
        currency,
      })),
    awaits_capture: false,
    ...(reported.length > 0 && { refunds: reported }),
    ...(best.status === 'failed' && isPageExpired(intent, found) && { is_page_expired: true }),
  }
}

/** @param status `canceled` for a payment that nobody is to pay any more */
export function unpaidSnapshot(
  intent: IntentRef,
  found: Pick<FoundTransactions, 'responded_at'>,
  status: 'pending' | 'canceled',
): IntentSnapshot {
  return {
    report: {
      status,
      provider_time: found.responded_at,
      provider_event_id: null,
      provider_intent_id: intent.provider_intent_id,
      provider_payment_id: null,
      amount_cents: null,
      currency: null,
    },
    further_charges: [],
    awaits_capture: false,
    ...(isPageExpired(intent, found) && { is_page_expired: true }),
  }
}

function isPageExpired({ created_at }: IntentRef, { responded_at }: Pick<FoundTransactions, 'responded_at'>): boolean {
  return Date.parse(responded_at) - Date.parse(created_at) > tokenLifeMs
}

/** A transaction of an invoice with the payment status that follows from it. */
export type Attempt = Read<Transaction> & { readonly status: PaymentStatus }

/** Which of several transactions determines the payment's status; lowest first. */
const preference: Readonly<Record<PaymentStatus, number>> = {
  succeeded: 0,
  processing: 1,
  failed: 2,
  canceled: 3,
  pending: 4,
}

type AttemptSearch = Omit<TransactionSearch, 'isEnough'> & { readonly api: Api }

/** Payers make few attempts. Attempts beyond this rank lower by their listed status. */
const maxDetails = 8

/** The transactions of an invoice: attempts to pay it, best first, and what went back. */
type InvoiceTransactions = {
  readonly attempts: readonly Attempt[]
  readonly refunds: readonly Read<Transaction>[]
  /** Returned eChecks. */
  readonly returns: readonly Read<Transaction>[]
}

/**
 * @param known an attempt that was read already; it wins a tie
 * @returns the transactions of the invoice, and the time at which the lists were read
 * @throws ProviderError, also when one of them is unreadable
 */
export async function findAttempts(search: AttemptSearch, known: Attempt | null): Promise<Read<InvoiceTransactions>> {
  const isKnown = ({ transId }: TransactionSummary) => transId === known?.body.transId
  const hasSucceeded = (summary: TransactionSummary) =>
    isKnown(summary)
      ? known?.status === 'succeeded'
      : !isRefund(summary) && preferenceOf(summary) === preference.succeeded
  const found = await findTransactions({ ...search, isEnough: hasSucceeded })
  const others = found.body.filter((summary) => !isKnown(summary))
  const read = [
    ...(await readPreferred(
      search,
      others.filter((summary) => !isRefund(summary)),
    )),
    ...(await readPreferred(search, others.filter(isRefund))),
  ]
  const refunds = read.filter(({ body }) => isRefund(body))
  const returns = read.filter(({ body }) => isReturn(body))
  const paying = read
    .filter(({ body }) => !isRefund(body) && !isReturn(body))
    .map((response) => ({ ...response, status: statusOf(response.body) }))
  const attempts = [...(known ? [known] : []), ...paying].toSorted(
    (a, b) => preference[a.status] - preference[b.status],
  )
  return { body: { attempts, refunds, returns }, responded_at: found.responded_at }
}

/** An unknown status may be a success, so it ranks first. */
const preferenceOf = ({ transactionStatus }: TransactionSummary) =>
  preference[statusOfTransactionStatus(transactionStatus) ?? 'succeeded']

async function readPreferred(
  { api }: AttemptSearch,
  summaries: readonly TransactionSummary[],
): Promise<Read<Transaction>[]> {
  const candidates = summaries
    .map((summary) => ({ ...summary, rank: preferenceOf(summary) }))
    .toSorted((a, b) => a.rank - b.rank || compareIds(a.transId, b.transId))
    .slice(0, maxDetails)
  const found: Read<Transaction>[] = []
  for (const { transId } of candidates) {
    const response = await readTransaction(api, transId)
    if (!response) throw transactionMissingError()
    found.push(response)
  }
  return found
}

/** The list contains the transaction, but its details are missing, so the outcome is unknown. */
function transactionMissingError(): ProviderError {
  return new ProviderError(
    'unknown',
    'transaction_not_found',
    'Authorize.Net does not know the outcome of this transaction yet',
  )
}

/** Ids grow with time. A fixed order ensures that of two charges always the same one is the payment's. */
function compareIds(a: string, b: string): number {
  return a.length - b.length || a.localeCompare(b, 'en')
}
