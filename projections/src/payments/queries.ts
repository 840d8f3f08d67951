// Queries for payments. Columns are listed one by one, so that new ones are not exposed by accident.

import type { PaymentStatus } from '@paylog/domain/payments/payment'
import type { ListedPayment, PaymentResource } from '@paylog/domain/payments/resource'
import { sql } from 'kysely'
import { methodSummary, type WithSummary } from '../payment-methods/queries.ts'
import {
  type Found,
  type ListOrder,
  type ListPage,
  type PageParameters,
  pageQuery,
  type ResourceQuery,
  toListPage,
} from '../queries/listPage.ts'
import { prepareQuery, type Queryable, type QueryParameters, queryBuilder } from '../queries/namedQuery.ts'
import { containsPattern, guestEmailEquals } from '../queries/textFilters.ts'
import type { PaymentRow } from './projection.ts'

/** A row of the view `payments`. */
export type PaymentRecord = PaymentRow & {
  readonly id: string
  readonly revision: number
  readonly amount_cents: number
}

export const views = queryBuilder<{ readonly payments: PaymentRecord }>('read_models')

/** The columns of a list. */
export const listedColumns = [
  'id',
  'subtotal_cents',
  'tax_cents',
  'discount_cents',
  'total_cents',
  'amount_cents',
  'currency',
  'status',
  'description',
  'concept',
  'reference_code',
  'category',
  'tags',
  'provider_id',
  'payment_method_id',
  'is_guest_payment',
  'guest_email',
  'created_at',
  'updated_at',
  'completed_at',
] as const satisfies readonly (keyof PaymentRecord)[]

/** The additional columns of a single payment, with the revision for its ETag. */
export const singleColumns = [
  ...listedColumns,
  'provider_payment_id',
  'provider_intent_id',
  'client_secret',
  'metadata',
  'revision',
] as const satisfies readonly (keyof PaymentRecord)[]

/** The summary of the method is present only on request. */
export type ListedRecord = Pick<PaymentRecord, (typeof listedColumns)[number]> & Partial<WithSummary>
export type SingleRecord = Pick<PaymentRecord, (typeof singleColumns)[number]> & WithSummary

function listedPayment(record: ListedRecord): ListedPayment {
  return {
    id: record.id,
    subtotal_cents: record.subtotal_cents,
    tax_cents: record.tax_cents,
    discount_cents: record.discount_cents,
    total_cents: record.total_cents,
    amount_cents: record.amount_cents,
    currency: record.currency,
    status: record.status,
    description: record.description,
    concept: record.concept,
    reference_code: record.reference_code,
    category: record.category,
    tags: record.tags,
    provider_id: record.provider_id,
    payment_method_id: record.payment_method_id,
    is_guest_payment: record.is_guest_payment,
    guest_email: record.guest_email,
    created_at: record.created_at,
    updated_at: record.updated_at,
    completed_at: record.completed_at,
    ...(record.payment_method !== undefined && { payment_method: record.payment_method }),
  }
}

function singlePayment(record: SingleRecord): PaymentResource {
  return {
    ...listedPayment(record),
    provider_payment_id: record.provider_payment_id,
    provider_intent_id: record.provider_intent_id,
    client_secret: record.client_secret,
    payment_method: record.payment_method,
    metadata: record.metadata,
  }
}

export type PaymentOrder = 'created_at' | 'amount_cents' | 'status' | 'updated_at'

type Values = PageParameters & {
  /** The owner; see `ownerOf`. */
  readonly owner: string
  readonly status?: PaymentStatus | undefined
  /** Text contained in id, e-mail or description, case-insensitive. */
  readonly search?: string | undefined
  readonly guest_email?: string | undefined
  /** Both bounds are exclusive. */
  readonly created_after?: Date | undefined
  readonly created_before?: Date | undefined
}

type Shape = ListOrder<PaymentOrder> & {
  /** Whether payments include their method's summary. */
  readonly withMethod: boolean
}

export type PaymentsQuery = Values & Shape

const paymentsPage = prepareQuery((parameters: QueryParameters<Values>, shape: Shape) => {
  const related = shape.withMethod ? methodSummary(parameters.owner, 'paged.payment_method_id') : undefined
  return pageQuery(matchingPayments(parameters), parameters, shape, related)
})

export async function listPayments(
  db: Queryable,
  { orderBy, orderDir, withMethod, ...values }: PaymentsQuery,
): Promise<ListPage<ListedPayment>> {
  return toListPage(await paymentsPage(db, values, { orderBy, orderDir, withMethod }), listedPayment)
}

const paymentById = prepareQuery(({ id, owner }: QueryParameters<ResourceQuery>) => {
  const payment = views.selectFrom('payments').select(singleColumns).where('id', '=', id).where('owner', '=', owner)
  const { column, join } = methodSummary(owner, 'payment.payment_method_id')
  return sql<SingleRecord>`select payment.*, ${column} from ${payment} as payment ${join}`
})

/** @returns `undefined` if the payment is missing or another owner's */
export async function getPayment(db: Queryable, query: ResourceQuery): Promise<Found<PaymentResource> | undefined> {
  const [record] = await paymentById(db, query, {})
  return record && { item: singlePayment(record), revision: BigInt(record.revision) }
}

/** A parameter of type text, compared as a time. */
const createdAt = sql<Date>`created_at`

function matchingPayments({
  owner,
  status,
  search,
  guest_email,
  created_after,
  created_before,
}: QueryParameters<Values>) {
  let query = views.selectFrom('payments').select(listedColumns).where('owner', '=', owner)
  if (status !== undefined) query = query.where('status', '=', status)
  if (created_after !== undefined) query = query.where(createdAt, '>', created_after)
  if (created_before !== undefined) query = query.where(createdAt, '<', created_before)
  if (search !== undefined) query = query.where('search_text', 'like', search.through(containsPattern))
  if (guest_email !== undefined) query = query.where(guestEmailEquals(guest_email))
  return query
}
