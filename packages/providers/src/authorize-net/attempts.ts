// The attempts to pay one invoice: its transactions with what each means for the payment, the best one first.
import type { PaymentStatus } from '@paylog/domain/payments/status'
import { ProviderError } from '../provider.ts'
import { type Transaction, type TransactionSummary, transactionDetails } from './answers.ts'
import { type ApiResponse, type Api, type Deadline, startDeadline } from './api.ts'
import { findTransactions, type TransactionSearch } from './findTransactions.ts'
import { AuthorizeNetError } from './refusals.ts'
import { isRefund, statusOf, statusOfTransactionStatus } from './statuses.ts'

export type Attempt = ApiResponse<Transaction> & { readonly status: PaymentStatus }

/** Of several transactions of one payment, the one that counts. */
const preference: Readonly<Record<PaymentStatus, number>> = {
  succeeded: 0,
  processing: 1,
  failed: 2,
  canceled: 3,
  pending: 4,
}

/** `timeoutMs` of one call for details. */
export type AttemptSearch = Omit<TransactionSearch, 'isEnough'> & { readonly api: Api; readonly timeoutMs: number }

/** A payer tries a few times; of what lies beyond, the lists have told that it is worth less. */
const maxDetails = 8

/** @returns `null` when the gateway knows no such transaction @throws ProviderError */
export async function readTransaction(
  api: Api,
  transId: string,
  deadline: Deadline,
): Promise<ApiResponse<Transaction> | null> {
  try {
    const { body, answered_at } = await api.idempotent({
      method: 'getTransactionDetails',
      members: { transId },
      response: transactionDetails,
      deadline,
    })
    return { body: body.transaction, answered_at }
  } catch (error) {
    if (error instanceof AuthorizeNetError && error.code === 'E00040') return null
    throw error
  }
}

/**
 * @param known one that need not be found, and is the first among its equals
 * @returns all of the invoice, the best one first, and the time at which the lists were read
 * @throws ProviderError also when one of them says nothing that can be read
 */
export async function findAttempts(
  search: AttemptSearch,
  known: Attempt | null,
): Promise<ApiResponse<readonly Attempt[]>> {
  const isKnown = ({ transId }: TransactionSummary) => transId === known?.body.transId
  const hasSucceeded = (line: TransactionSummary) =>
    isKnown(line) ? known?.status === 'succeeded' : !isRefund(line) && preferenceOf(line) === preference.succeeded
  const found = await findTransactions({ ...search, isEnough: hasSucceeded })
  const others = found.body.filter((line) => !isKnown(line))
  const all = [...(known ? [known] : []), ...(await readPreferred(search, others))]
  return {
    body: all.toSorted((a, b) => preference[a.status] - preference[b.status]),
    answered_at: found.answered_at,
  }
}

/** A word that is not known may mean anything, the best included. */
const preferenceOf = ({ transactionStatus }: TransactionSummary) =>
  preference[statusOfTransactionStatus(transactionStatus) ?? 'succeeded']

async function readPreferred(
  { api, timeoutMs, deadline }: AttemptSearch,
  lines: readonly TransactionSummary[],
): Promise<Attempt[]> {
  const candidates = lines
    .filter((line) => !isRefund(line))
    .map((line) => ({ ...line, worth: preferenceOf(line) }))
    .toSorted((a, b) => a.worth - b.worth || compareIds(a.transId, b.transId))
    .slice(0, maxDetails)
  const found: Attempt[] = []
  for (const { transId } of candidates) {
    const response = await readTransaction(api, transId, startDeadline(Math.min(timeoutMs, deadline.leftMs())))
    if (!response) throw transactionMissingError()
    if (!isRefund(response.body)) found.push({ ...response, status: statusOf(response.body) })
  }
  return found
}

/** A list has it and the details have not: nobody can tell what became of it. */
function transactionMissingError(): ProviderError {
  return new ProviderError('unknown', 'transaction_not_found', 'Authorize.Net cannot tell yet what became of this')
}

/** Ids grow with time. The order has to be the same each time: of two charges always the same one is the payment's. */
function compareIds(a: string, b: string): number {
  return a.length - b.length || a.localeCompare(b)
}
