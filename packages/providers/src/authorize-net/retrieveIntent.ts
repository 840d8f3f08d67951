// What became of a payment: by its transaction where one is known, else by all that carry its invoice number.
import type { PaymentStatus } from '@paylog/domain/payments/status'
import { type IntentRef, type IntentSnapshot, ProviderError } from '../provider.ts'
import { type Transaction, type TransactionSummary, transactionDetails } from './answers.ts'
import { type Answer, type Api, type Deadline, startDeadline } from './api.ts'
import { evidenceOf } from './evidence.ts'
import { findTransactions } from './findTransactions.ts'
import { Refusal } from './refusal.ts'
import { isRefund, statusOf, statusOfWord } from './statuses.ts'

/** Of several transactions of one payment, the one that counts. */
const preference: Readonly<Record<PaymentStatus, number>> = {
  succeeded: 0,
  processing: 1,
  failed: 2,
  canceled: 3,
  pending: 4,
}

/** A payer tries a few times; of what lies beyond, the lists have told that it is worth less. */
const maxDetails = 8

/** @returns `null` when the gateway knows no such transaction @throws ProviderError */
export async function readTransaction(
  api: Api,
  transId: string,
  deadline: Deadline,
): Promise<Answer<Transaction> | null> {
  try {
    const { body, answered_at } = await api.repeatable({
      method: 'getTransactionDetails',
      members: { transId },
      answer: transactionDetails,
      deadline,
    })
    return { body: body.transaction, answered_at }
  } catch (error) {
    if (error instanceof Refusal && error.code === 'E00040') return null
    throw error
  }
}

/**
 * A token is no object that one could ask for, so that no transaction means that nobody has paid yet.
 * @returns `null` only when a transaction is on record that the gateway does not know (any more)
 * @throws ProviderError
 */
export async function retrieveIntent(api: Api, timeoutMs: number, intent: IntentRef): Promise<IntentSnapshot | null> {
  const deadline = startDeadline(timeoutMs)
  const known = intent.provider_payment_id ? await readTransaction(api, intent.provider_payment_id, deadline) : null
  // One that ended badly may have been followed by another attempt of the payer.
  if (known && preference[statusOf(known.body)] <= preference.processing) return snapshotOf(intent, [known])
  const { provider_intent_id: invoiceNumber, created_at } = intent
  const found = await findTransactions({ api, invoiceNumber, since: new Date(created_at), deadline })
  const others = found.body.filter(({ transId }) => transId !== known?.body.transId)
  const all = [...(known ? [known] : []), ...(await readBest(api, others, deadline))]
  if (all.length > 0) return snapshotOf(intent, all)
  return intent.provider_payment_id === null ? notPaid(intent, found.answered_at) : null
}

async function readBest(
  api: Api,
  lines: readonly TransactionSummary[],
  deadline: Deadline,
): Promise<Answer<Transaction>[]> {
  const candidates = lines
    .filter((line) => !isRefund(line))
    // A word that is not known may mean anything, the best included.
    .map((line) => ({ ...line, worth: preference[statusOfWord(line.transactionStatus) ?? 'succeeded'] }))
    .toSorted((a, b) => a.worth - b.worth || compareIds(a.transId, b.transId))
    .slice(0, maxDetails)
  const found: Answer<Transaction>[] = []
  for (const { transId } of candidates) {
    const answer = await readTransaction(api, transId, deadline)
    if (!answer) throw contradiction()
    if (!isRefund(answer.body)) found.push(answer)
  }
  return found
}

/** A list has it and the details have not: nobody can tell what became of it. */
function contradiction(): ProviderError {
  return new ProviderError('unknown', 'transaction_not_found', 'Authorize.Net cannot tell yet what became of this')
}

/** Ids grow with time. The order has to be the same each time: of two charges always the same one is the payment's. */
function compareIds(a: string, b: string): number {
  return a.length - b.length || a.localeCompare(b)
}

function snapshotOf(intent: IntentRef, transactions: readonly Answer<Transaction>[]): IntentSnapshot {
  const ranked = transactions
    .map((transaction) => ({ ...transaction, status: statusOf(transaction.body) }))
    .toSorted((a, b) => preference[a.status] - preference[b.status])
  const [best, ...others] = ranked
  if (!best) throw new Error('A snapshot of no transaction')
  return {
    evidence: {
      ...evidenceOf(best.body, best.status, { provider_time: best.answered_at, provider_event_id: null }),
      provider_intent_id: intent.provider_intent_id,
    },
    further_charges: others.filter(({ status }) => status === 'succeeded').map(({ body }) => body.transId),
    awaits_capture: false,
  }
}

function notPaid({ provider_intent_id }: IntentRef, provider_time: string): IntentSnapshot {
  return {
    evidence: {
      status: 'pending',
      provider_time,
      provider_event_id: null,
      provider_intent_id,
      provider_payment_id: null,
      amount_cents: null,
      currency: null,
    },
    further_charges: [],
    awaits_capture: false,
  }
}
