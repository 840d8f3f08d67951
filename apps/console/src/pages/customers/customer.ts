// Whom a page of a customer is about: a user, or a guest by the e-mail address.
import { textsOf } from '../../search.ts'

export type Customer = { readonly user_id: string } | { readonly guest_email: string }

/** An @ tells an e-mail address from a user id. @param id as in the URL of the page */
export const customerOf = (id: string): Customer => (id.includes('@') ? { guest_email: id } : { user_id: id })

export const customerTitle = (customer: Customer): string =>
  'user_id' in customer ? `User ${customer.user_id}` : customer.guest_email

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
