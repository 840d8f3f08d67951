// Queries for payments.

import type { PaymentStatus } from '@paylog/domain/payments/payment'
import { ListedPayment, PaymentResource } from '@paylog/domain/payments/resource'
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
import { resourceOf, shownColumns } from '../queries/resources.ts'
import { containsPattern, guestEmailEquals } from '../queries/textFilters.ts'
import { type PaymentRecord, paymentColumns } from './projection.ts'
import { isReadBy, type ReaderShape, readerShape } from './readers.ts'

export const views = queryBuilder<{ readonly payments: PaymentRecord }>('read_models')

const listedColumns = shownColumns(ListedPayment, paymentColumns)
/** With the revision for its ETag. */
const singleColumns = [...shownColumns(PaymentResource, paymentColumns), 'revision', 'owner'] as const

type SingleRecord = Pick<PaymentRecord, (typeof singleColumns)[number]> & WithSummary

const listedPayment = resourceOf(ListedPayment)
const singlePayment = resourceOf(PaymentResource)

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

type Shape = ListOrder<PaymentOrder> &
  ReaderShape & {
    /** Whether payments include their method's summary. */
    readonly withMethod: boolean
  }

export type PaymentsQuery = Values & Omit<Shape, keyof ReaderShape>

const paymentsPage = prepareQuery((parameters: QueryParameters<Values>, shape: Shape) => {
  const related = shape.withMethod ? methodSummary(parameters.owner, 'paged.payment_method_id') : undefined
  return pageQuery(matchingPayments(parameters, shape), parameters, shape, related)
})

export async function listPayments(
  db: Queryable,
  { orderBy, orderDir, withMethod, ...values }: PaymentsQuery,
): Promise<ListPage<ListedPayment>> {
  const shape = { orderBy, orderDir, withMethod, ...readerShape(values) }
  return toListPage(await paymentsPage(db, values, shape), listedPayment)
}

const paymentById = prepareQuery(({ id, owner }: QueryParameters<ResourceQuery>, shape: ReaderShape) => {
  const payment = views.selectFrom('payments').select(singleColumns).where('id', '=', id).where(isReadBy(owner, shape))
  const { column, join } = methodSummary(owner, 'payment.payment_method_id')
  return sql<SingleRecord>`select payment.*, ${column} from ${payment} as payment ${join}`
})

/** @returns `undefined` if the payment is missing or another owner's; without its client secret if the guest did not make it */
export async function getPayment(db: Queryable, query: ResourceQuery): Promise<Found<PaymentResource> | undefined> {
  const [record] = await paymentById(db, query, readerShape(query))
  if (record === undefined) return undefined
  const payment = singlePayment(record)
  const item = record.owner === query.owner ? payment : { ...payment, client_secret: null }
  return { item, revision: BigInt(record.revision) }
}

/** A parameter of type text, compared as a time. */
const createdAt = sql<Date>`created_at`

function matchingPayments(
  { owner, status, search, guest_email, created_after, created_before }: QueryParameters<Values>,
  reader: ReaderShape,
) {
  let query = views.selectFrom('payments').select(listedColumns).where(isReadBy(owner, reader))
  if (status !== undefined) query = query.where('status', '=', status)
  if (created_after !== undefined) query = query.where(createdAt, '>', created_after)
  if (created_before !== undefined) query = query.where(createdAt, '<', created_before)
  if (search !== undefined) query = query.where('search_text', 'like', search.through(containsPattern))
  if (guest_email !== undefined) query = query.where(guestEmailEquals(guest_email))
  return query
}
