// The money of the fake's transactions.
import type { Transaction } from './transactions.ts'

/** What is left of a charge, after refunds that may not be settled yet. */
export function restOf(all: readonly Transaction[], charge: Transaction): number {
  const refunds = all.filter(({ refTransId }) => refTransId === charge.transId)
  return charge.settleCents - sum(refunds.map(({ settleCents }) => settleCents))
}

/** The money of an invoice: all that was captured, and what went back by refunds, voids and returned eChecks. */
export function moneyOf(
  all: readonly Transaction[],
  invoiceNumber: string,
): { readonly received_cents: number; readonly refunded_cents: number } {
  const charges = all.filter((each) => each.invoiceNumber === invoiceNumber && each.capturedCents > 0)
  const received_cents = sum(charges.map(({ capturedCents }) => capturedCents))
  const kept = charges.map((charge) => (charge.returnedItems.length > 0 ? 0 : restOf(all, charge)))
  return { received_cents, refunded_cents: received_cents - sum(kept) }
}

const sum = (numbers: readonly number[]) => numbers.reduce((total, each) => total + each, 0)
