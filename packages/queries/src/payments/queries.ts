// The list of an owner's payments, and a single payment.

import { Instant } from '@paylog/domain/fields'
import { PaymentStatus } from '@paylog/domain/payments/payment'
import { ListedPayment, PaymentResource } from '@paylog/domain/payments/resource'
import { sql } from 'kysely'
import { Type } from 'typebox'
import { hasGuestEmail, isContained, isCreatedAfter, isCreatedBefore, SearchText } from '../lists/filters.ts'
import { filter, type List } from '../lists/lists.ts'
import type { Sql } from '../lists/runQuery.ts'
import { methodSummary } from '../payment-methods/queries.ts'

const guestPrefix = 'guest:'

/**
 * Who may read a payment: its owner, and the guest whose e-mail the request named, even if a session made it.
 * @param owner see `ownerOf`
 */
export const isReadBy = (owner: string): Sql =>
  owner.startsWith(guestPrefix) ? hasGuestEmail(owner.slice(guestPrefix.length)) : sql`owner = ${owner}`

const createdAfter = 'Only payments created after this time, with a UTC offset (encode + as %2B)'
const createdBefore = 'Only payments created before this time, with a UTC offset'

/** Filters of every list of payments. */
export const commonFilters = {
  status: filter(PaymentStatus, 'Only payments with this status', (status) => sql`status = ${status}`),
  created_at_from: filter(Instant, createdAfter, isCreatedAfter),
  created_at_to: filter(Instant, createdBefore, isCreatedBefore),
}

export const paymentList = {
  view: 'payments',
  item: Type.Omit(ListedPayment, ['payment_method']),
  readBy: isReadBy,
  filters: {
    status: commonFilters.status,
    search: filter(
      SearchText,
      'Text contained in the id, an e-mail, the description, the concept or the reference, case-insensitive',
      isContained,
    ),
    created_at_from: commonFilters.created_at_from,
    created_at_to: commonFilters.created_at_to,
  },
  orders: {
    created_at: { column: 'created_at', holds: 'time' },
    amount_cents: { column: 'amount_cents', holds: 'integer' },
    status: { column: 'status', holds: 'text' },
    updated_at: { column: 'updated_at', holds: 'time' },
  },
} satisfies List

/** Each payment with the summary of its method. */
export const paymentListWithMethods: List<typeof ListedPayment> = {
  ...paymentList,
  item: ListedPayment,
  computed: (owner) => ({ payment_method: methodSummary(owner) }),
}

/** A single payment, without its client secret if the guest did not make it. */
export const singlePayment: List<typeof PaymentResource> = {
  ...paymentList,
  item: PaymentResource,
  computed: (owner) => ({
    payment_method: methodSummary(owner),
    client_secret: sql`case when item.owner = ${owner} then item.client_secret end`,
  }),
}
