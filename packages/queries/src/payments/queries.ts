// The list of an owner's payments, and a single payment.

import { Instant } from '@paylog/domain/fields'
import { PaymentStatus } from '@paylog/domain/payments/payment'
import { ListedPayment, PaymentResource } from '@paylog/domain/payments/resource'
import type { Parameter } from '@paylog/runtime/postgres/runQuery'
import { sql } from 'kysely'
import { Type } from 'typebox'
import { defineList } from '../lists/defineList.ts'
import { filter, hasGuestEmail, isCreatedAfter, isCreatedBefore, searchFilter } from '../lists/filters.ts'
import { methodSummary } from '../payment-methods/queries.ts'
import type { Item } from '../readModels.ts'

const emailOf = (guest: string) => guest.slice('guest:'.length)

/** Who may read a payment: its owner, and the guest whose e-mail the request named, even if a session made it. See `ownerOf`. */
export const isReadBy = (item: Item<'payments'>, owner: Parameter<string>, isGuest: boolean) =>
  isGuest ? hasGuestEmail(owner.as(emailOf)) : item('item.owner', '=', owner)

/** Filters of every list of payments. */
export const commonFilters = {
  status: filter<typeof PaymentStatus, 'payments'>(PaymentStatus, 'Only payments with this status', 'status'),
  created_at_from: filter(
    Instant,
    'Only payments created after this time, with a UTC offset (encode + as %2B)',
    isCreatedAfter,
  ),
  created_at_to: filter(Instant, 'Only payments created before this time, with a UTC offset', isCreatedBefore),
}

const ownPayments = {
  readBy: isReadBy,
  filters: {
    status: commonFilters.status,
    search: searchFilter(
      'Text contained in the id, an e-mail, the description, the concept or the reference, case-insensitive',
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
} as const

export const paymentList = defineList('payments', {
  ...ownPayments,
  item: Type.Omit(ListedPayment, ['payment_method']),
  computed: () => ({}),
})

/** Each payment with the summary of its method. */
export const paymentListWithMethods = defineList('payments', {
  ...ownPayments,
  item: ListedPayment,
  computed: (item, owner) => ({ payment_method: methodSummary(item, owner) }),
})

/** A single payment, without its client secret if the guest did not make it. */
export const singlePayment = defineList('payments', {
  ...ownPayments,
  item: PaymentResource,
  computed: (item, owner) => ({
    payment_method: methodSummary(item, owner),
    client_secret: sql`case when item.owner = ${owner} then item.client_secret end`,
  }),
})
