// The questions about payments. Each is asked on behalf of one owner; there is no way to ask without.
import type { ListedPayment, PaymentResource } from '@paylog/domain/payments/resource'
import type { PaymentStatus } from '@paylog/domain/payments/status'
import { sql } from 'kysely'
import { methodSummary } from '../payment-methods/views.ts'
import { containsPattern } from '../queries/foldCase.ts'
import { guestEmailEquals } from '../queries/guestEmail.ts'
import { type QueryParameters, prepareQuery, type Queryable } from '../queries/namedQuery.ts'
import {
  type Found,
  type ListOrder,
  type ListPage,
  type PageParameters,
  pageQuery,
  toListPage,
  type ResourceQuery,
} from '../queries/page.ts'
import { listedColumns, listedPayment, type SingleRecord, singleColumns, singlePayment, views } from './views.ts'

export type PaymentOrder = 'created_at' | 'amount_cents' | 'status' | 'updated_at'

type Values = PageParameters & {
  /** Whose payments; see `ownerOf`. */
  readonly owner: string
  readonly status?: PaymentStatus | undefined
  /** Part of the id, an e-mail or the description, in any case. */
  readonly search?: string | undefined
  readonly guest_email?: string | undefined
  /** Both bounds are exclusive. */
  readonly created_after?: Date | undefined
  readonly created_before?: Date | undefined
}

type Shape = ListOrder<PaymentOrder> & {
  /** Whether each payment carries the summary of its method. */
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

/** Nothing when there is none or it is someone else's. */
export async function getPayment(db: Queryable, query: ResourceQuery): Promise<Found<PaymentResource> | undefined> {
  const [record] = await paymentById(db, query, {})
  return record && { item: singlePayment(record), revision: BigInt(record.revision) }
}

/** It arrives as a text and is compared as the time that it is. */
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
