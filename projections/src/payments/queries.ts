// The questions about payments. Each is asked on behalf of one owner; there is no way to ask without.
import type { ListedPayment, PaymentResource } from '@paylog/domain/payments/resource'
import type { PaymentStatus } from '@paylog/domain/payments/status'
import { sql } from 'kysely'
import { methodSummary } from '../payment-methods/views.ts'
import { containing } from '../queries/foldCase.ts'
import { guestEmailIs } from '../queries/guestEmail.ts'
import { type Asked, prepare, type Queryable } from '../queries/namedQuery.ts'
import {
  type Found,
  type Order,
  type Page,
  type Paging,
  pageOf,
  readPage,
  type SingleQuestion,
} from '../queries/page.ts'
import { listedColumns, listedPayment, type SingleRecord, singleColumns, singlePayment, views } from './views.ts'

export type PaymentOrder = 'created_at' | 'amount_cents' | 'status' | 'updated_at'

type Values = Paging & {
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

type Shape = Order<PaymentOrder> & {
  /** Whether each payment carries the summary of its method. */
  readonly withMethod: boolean
}

export type PaymentsQuestion = Values & Shape

const pageOfPayments = prepare((asked: Asked<Values>, shape: Shape) => {
  const related = shape.withMethod ? methodSummary(asked.owner, 'paged.payment_method_id') : undefined
  return pageOf(matchingPayments(asked), asked, shape, related)
})

export async function listPayments(
  db: Queryable,
  { orderBy, orderDir, withMethod, ...values }: PaymentsQuestion,
): Promise<Page<ListedPayment>> {
  return readPage(await pageOfPayments(db, values, { orderBy, orderDir, withMethod }), listedPayment)
}

const onePayment = prepare(({ id, owner }: Asked<SingleQuestion>) => {
  const payment = views.selectFrom('payments').select(singleColumns).where('id', '=', id).where('owner', '=', owner)
  const { column, join } = methodSummary(owner, 'payment.payment_method_id')
  return sql<SingleRecord>`select payment.*, ${column} from ${payment} as payment ${join}`
})

/** Nothing when there is none or it is someone else's. */
export async function getPayment(db: Queryable, question: SingleQuestion): Promise<Found<PaymentResource> | undefined> {
  const [record] = await onePayment(db, question, {})
  return record && { item: singlePayment(record), revision: BigInt(record.revision) }
}

/** It arrives as a text and is compared as the time that it is. */
const createdAt = sql<Date>`created_at`

function matchingPayments({ owner, status, search, guest_email, created_after, created_before }: Asked<Values>) {
  let query = views.selectFrom('payments').select(listedColumns).where('owner', '=', owner)
  if (status !== undefined) query = query.where('status', '=', status)
  if (created_after !== undefined) query = query.where(createdAt, '>', created_after)
  if (created_before !== undefined) query = query.where(createdAt, '<', created_before)
  if (search !== undefined) query = query.where('search_text', 'like', search.through(containing))
  if (guest_email !== undefined) query = query.where(guestEmailIs(guest_email))
  return query
}
