// Whom a page of a customer is about: a user, or a guest by the e-mail address.
import type { ListedPayment } from '../../api/apiTypes.ts'
import { textsOf } from '../../search.ts'

export type Customer = { readonly user_id: string } | { readonly guest_email: string }

/** An @ tells an e-mail address from a user id. @param id as in the URL of the page */
export const customerOf = (id: string): Customer => (id.includes('@') ? { guest_email: id } : { user_id: id })

/** The search of the list of customers. */
export const customersSearch = (search: Record<string, unknown>) => textsOf(search, ['search'])

/** The search of the page's former address. */
export const formerCustomerSearch = (search: Record<string, unknown>) => textsOf(search, ['user_id', 'guest_email'])

/** The id of the page for a user or a guest; of the user when both are given, and null without either. */
export const customerId = ({
  user_id,
  guest_email,
}: {
  readonly user_id?: string | null
  readonly guest_email?: string | null
}): string | null => user_id ?? guest_email ?? null

export type FoundCustomer = {
  /** Of the page. */
  readonly id: string
  readonly userId: string | null
  readonly guestEmail: string | null
  /** The first of the payments. */
  readonly last: ListedPayment
}

/** Who made these payments, each once. Payments without a payer that is known make no customer. */
export function customersOf(payments: readonly ListedPayment[]): readonly FoundCustomer[] {
  const found = new Map<string, FoundCustomer>()
  for (const payment of payments) {
    const id = customerId(payment)
    if (id === null) continue
    // Guests whose addresses differ in case are the same.
    const key = id.toLowerCase()
    const { user_id: userId, guest_email } = payment
    if (!found.has(key)) found.set(key, { id, userId, guestEmail: userId === null ? guest_email : null, last: payment })
  }
  return [...found.values()]
}

export type CustomerSum = {
  readonly currency: string
  readonly payments: number
  readonly received: number
  readonly refunded: number
  /** What banks ask back, or have taken: without disputes that were won. */
  readonly disputed: number
}

type Paid = Pick<ListedPayment, 'currency' | 'amount_received_cents' | 'amount_refunded_cents'>
type Disputed = { readonly currency: string; readonly amount_cents: number | null; readonly status: string }

/** The money of a customer, by currency, in minor units. */
export function sumsOf(payments: readonly Paid[], disputes: readonly Disputed[]): readonly CustomerSum[] {
  const currencies = [...new Set([...payments, ...disputes].map(({ currency }) => currency))].toSorted()
  return currencies.map((currency) => {
    const own = payments.filter((payment) => payment.currency === currency)
    const lost = disputes.filter((dispute) => dispute.currency === currency && dispute.status !== 'won')
    return {
      currency,
      payments: own.length,
      received: own.reduce((sum, { amount_received_cents }) => sum + amount_received_cents, 0),
      refunded: own.reduce((sum, { amount_refunded_cents }) => sum + amount_refunded_cents, 0),
      disputed: lost.reduce((sum, { amount_cents }) => sum + (amount_cents ?? 0), 0),
    }
  })
}
