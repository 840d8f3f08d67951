// What PayPal's answers about orders and captures have in common.
import { unreadableResponse } from '../answers.ts'
import { type Money, toCents } from './amounts.ts'

/** @throws ProviderError `unknown` for an amount that is none */
export function amountOf(money: Money): { readonly amount_cents: number; readonly currency: string } {
  const amount_cents = toCents(money)
  if (amount_cents === null) throw unreadableResponse('unreadable_answer')
  return { amount_cents, currency: money.currency_code }
}

/** @throws ProviderError `unknown` for a status that we do not know */
export function statusIn<Status>(
  statuses: Readonly<Record<string, Status>>,
  { status }: { readonly status: string },
): Status {
  const ours = Object.hasOwn(statuses, status) ? statuses[status] : undefined
  if (ours === undefined) throw unreadableResponse('unreadable_answer')
  return ours
}
