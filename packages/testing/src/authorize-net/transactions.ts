// The fake's hosted form tokens, transactions and settlement batches.
import { randomBytes } from 'node:crypto'

/** The request that a token was created for. */
export type HostedRequest = {
  readonly invoiceNumber: string | null
  readonly amountCents: number
  readonly currency: string
  readonly duplicateWindowSeconds: number | null
  readonly authOnly: boolean
}

/** A payer pays with a token; a merchant can also charge without one. */
export type ChargeSource =
  | { readonly token: string }
  | { readonly invoiceNumber: string | null; readonly amount_cents: number }

const tokenLifeMs = 15 * 60 * 1000

function createHostedTokens(now: () => number) {
  const tokens = new Map<string, HostedRequest & { readonly expiresAt: number }>()
  return {
    create(request: HostedRequest): string {
      const token = randomBytes(48).toString('base64')
      tokens.set(token, { ...request, expiresAt: now() + tokenLifeMs })
      return token
    },

    /** @throws Error when the token is unknown or expired */
    requestOf(source: ChargeSource): HostedRequest {
      if (!('token' in source)) {
        const { invoiceNumber, amount_cents: amountCents } = source
        return { invoiceNumber, amountCents, currency: 'USD', duplicateWindowSeconds: null, authOnly: false }
      }
      const found = tokens.get(source.token)
      if (!found || found.expiresAt < now()) throw new Error('The form does not open: the token is not valid')
      return found
    },
  }
}

export type Transaction = {
  readonly transId: string
  readonly transactionType: 'authCaptureTransaction' | 'authOnlyTransaction' | 'refundTransaction'
  transactionStatus: string
  responseCode: 1 | 2 | 3 | 4
  responseReasonCode: number
  readonly invoiceNumber: string | null
  readonly card: string
  readonly currency: string
  readonly authCents: number
  settleCents: number
  readonly submittedAt: number
  readonly refTransId: string | null
  /** All money that was captured, even if it was voided later. */
  capturedCents: number
  readonly description: string | null
  readonly poNumber: string | null
  /** The return of an eCheck. */
  returnedItems: readonly { readonly id: string; readonly code: string; readonly description: string }[]
  readonly subscription: { readonly id: number; readonly payNum: number } | null
  readonly email: string | null
  readonly customerProfileId: string | null
  batchId: string | null
}

/** What a refund says about itself. */
export type RefundOrder = Partial<Pick<Transaction, 'invoiceNumber' | 'description' | 'poNumber'>>

export type SettlementBatch = { readonly batchId: string; readonly settledAt: number }

export type FakePayment = {
  /** `error`: a failure of the processor. */
  readonly outcome?: 'approved' | 'declined' | 'held' | 'error'
  /** Identifies the card. */
  readonly card?: string
  readonly authOnly?: boolean
  readonly email?: string
  readonly subscription?: { readonly id: number; readonly payNum: number }
}

/** The result of a payer's attempt. A duplicate creates no transaction, so its id is `0`. */
export type PaymentAttempt = Pick<Transaction, 'responseCode' | 'responseReasonCode'> & { readonly transId: string }

/** The account's default; a request may set another. */
export const defaultDuplicateWindowSeconds = 120

const outcomes = {
  approved: { transactionStatus: 'capturedPendingSettlement', responseCode: 1, responseReasonCode: 1 },
  declined: { transactionStatus: 'declined', responseCode: 2, responseReasonCode: 2 },
  held: { transactionStatus: 'FDSPendingReview', responseCode: 4, responseReasonCode: 252 },
  error: { transactionStatus: 'generalError', responseCode: 3, responseReasonCode: 19 },
} as const

const settledStatuses: Readonly<Record<string, string>> = {
  capturedPendingSettlement: 'settledSuccessfully',
  refundPendingSettlement: 'refundSettledSuccessfully',
  declined: 'declined',
  generalError: 'generalError',
  voided: 'voided',
}

/** Whether the same card, amount and invoice was approved within the window. */
function isDuplicate(all: readonly Transaction[], request: HostedRequest, card: string, now: number): boolean {
  const windowMs = (request.duplicateWindowSeconds ?? defaultDuplicateWindowSeconds) * 1000
  return all.some(
    (earlier) =>
      earlier.responseCode === 1 &&
      earlier.transactionType !== 'refundTransaction' &&
      earlier.transactionStatus !== 'voided' &&
      earlier.card === card &&
      earlier.authCents === request.amountCents &&
      earlier.invoiceNumber === request.invoiceNumber &&
      now - earlier.submittedAt < windowMs,
  )
}

/** A new transaction, but for what the payer adds. */
function paidWith(
  { invoiceNumber, currency, amountCents }: HostedRequest,
  { outcome, authOnly }: { readonly outcome: keyof typeof outcomes; readonly authOnly: boolean },
) {
  return {
    transactionType: authOnly ? ('authOnlyTransaction' as const) : ('authCaptureTransaction' as const),
    ...outcomes[outcome],
    ...(authOnly && outcome === 'approved' ? { transactionStatus: 'authorizedPendingCapture' } : {}),
    invoiceNumber,
    currency,
    authCents: amountCents,
    settleCents: outcome === 'approved' || outcome === 'held' ? amountCents : 0,
    capturedCents: outcome === 'approved' && !authOnly ? amountCents : 0,
    refTransId: null,
    description: null,
    poNumber: null,
    returnedItems: [],
    customerProfileId: null,
  }
}

/** @param now in ms since 1970 */
export function createTransactions(now: () => number) {
  const all: Transaction[] = []
  const batches: SettlementBatch[] = []
  const tokens = createHostedTokens(now)
  let lastId = 60_000_000_000
  const nextId = () => String(++lastId)

  function find(transId: string): Transaction {
    const found = all.find((transaction) => transaction.transId === transId)
    if (!found) throw new Error(`There is no transaction ${transId}`)
    return found
  }

  function add(transaction: Omit<Transaction, 'transId' | 'submittedAt' | 'batchId'>): Transaction {
    const added = { ...transaction, transId: nextId(), submittedAt: now(), batchId: null }
    all.push(added)
    return added
  }

  return {
    all,
    now,
    batches,
    tokens,
    find,

    /** A payer submits the form. */
    pay(
      source: ChargeSource,
      payment: FakePayment,
    ): { readonly attempt: PaymentAttempt; readonly transaction?: Transaction } {
      const { outcome = 'approved', card = 'card-1' } = payment
      const request = tokens.requestOf(source)
      const { authOnly = request.authOnly } = payment
      if (outcome === 'approved' && isDuplicate(all, request, card, now()))
        return { attempt: { responseCode: 3, responseReasonCode: 11, transId: '0' } }
      const transaction = add({
        ...paidWith(request, { outcome, authOnly }),
        card,
        subscription: payment.subscription ?? null,
        email: payment.email ?? null,
      })
      return { attempt: transaction, transaction }
    },

    /** A refund is a separate transaction. */
    refund(
      original: Transaction,
      cents: number,
      { invoiceNumber = null, description = null, poNumber = null }: RefundOrder = {},
    ): Transaction {
      return add({
        ...original,
        transactionType: 'refundTransaction',
        transactionStatus: 'refundPendingSettlement',
        authCents: cents,
        settleCents: cents,
        capturedCents: 0,
        refTransId: original.transId,
        invoiceNumber,
        description,
        poNumber,
      })
    },

    /** Closes a batch with all transactions that can be settled. */
    settle(): SettlementBatch {
      const batch = { batchId: nextId(), settledAt: now() }
      for (const transaction of all) {
        const settled = settledStatuses[transaction.transactionStatus]
        if (transaction.batchId !== null || settled === undefined) continue
        transaction.transactionStatus = settled
        transaction.batchId = batch.batchId
      }
      batches.push(batch)
      return batch
    },
  }
}

export type Transactions = ReturnType<typeof createTransactions>
