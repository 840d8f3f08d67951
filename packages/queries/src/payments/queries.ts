// The list of an owner's payments, and a single payment.

import { mapFields, Nullable } from '@paylog/domain/fields'
import { PaymentStatus } from '@paylog/domain/payments/payment'
import { ListedPayment, PaymentResource } from '@paylog/domain/payments/resource'
import type { Parameter } from '@paylog/runtime/postgres/runQuery'
import { sql } from 'kysely'
import { Type } from 'typebox'
import { defineList } from '../lists/defineList.ts'
import { filter, hasGuestEmail, moneyFilters, searchFilter } from '../lists/filters.ts'
import { methodSummary } from '../payment-methods/queries.ts'
import type { Item } from '../readModels.ts'

const emailOf = (guest: string) => guest.slice('guest:'.length)

/** Who may read a payment: its owner, and the guest whose e-mail the request named, even if a session made it. See `ownerOf`. */
export const isReadBy = (item: Item<'payments'>, owner: Parameter<string>, isGuest: boolean) =>
  isGuest ? hasGuestEmail(owner.as(emailOf)) : item('item.owner', '=', owner)

export const statusFilter = filter<typeof PaymentStatus, 'payments'>(
  PaymentStatus,
  'Only payments with this status',
  'status',
)

/** What lists of refunds and disputes show of the payment. */
export const aboutPayment = {
  concept: Nullable(Type.String({ description: 'Of the payment' })),
  reference_code: Nullable(Type.String({ description: 'Of the payment' })),
}

export function textsOfPayment(item: Item<'refunds' | 'disputes'>) {
  const textOf = (name: keyof typeof aboutPayment) =>
    item
      .selectFrom('read_models.payments as payment')
      .select(`payment.${name}`)
      .where('payment.id', '=', sql.ref<string>('item.payment_id'))
      .$asScalar()
  return mapFields(aboutPayment, (_, name) => textOf(name))
}

const { created_at_from, created_at_to } = moneyFilters('payments')

const ownPayments = {
  readBy: isReadBy,
  filters: {
    status: statusFilter,
    search: searchFilter(
      'Text contained in the id, an e-mail, the description, the concept or the reference, case-insensitive',
    ),
    created_at_from,
    created_at_to,
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
