// Queries for the refunds of a payment.
import { RefundResource } from '@paylog/domain/payments/refunds'
import { sql } from 'kysely'
import { isReadBy, type ReaderShape, readerShape } from '../payments/readers.ts'
import { prepareQuery, type Queryable, type QueryParameters } from '../queries/namedQuery.ts'
import { resourceOf, shownColumns } from '../queries/resources.ts'
import { type RefundRecord, refundColumns } from './projection.ts'

type Values = {
  /** Of the payment. */
  readonly id: string
  /** The owner of the payment; see `ownerOf`. Undefined for an administrator, who reads all. */
  readonly owner?: string | undefined
}

const columns = sql.join(shownColumns(RefundResource, refundColumns).map((name) => sql.ref(`refunds.${name}`)))
const refundOf = resourceOf(RefundResource)

const refundsOfPayment = prepareQuery(({ id, owner }: QueryParameters<Values>, reader: ReaderShape) => {
  // A payment without refunds is a row without an id; a payment that the caller may not read is none.
  return sql<RefundRecord | { readonly id: null }>`
    select ${columns} from read_models.payments left join read_models.refunds on refunds.payment_id = payments.id
    where payments.id = ${id} ${owner === undefined ? sql`` : sql`and ${isReadBy(owner, reader)}`}
    order by refunds.created_at desc, refunds.id desc`
})

/** The refunds of a payment, newest first. @returns `undefined` if the payment is missing or another owner's */
export async function listRefunds(db: Queryable, query: Values): Promise<readonly RefundResource[] | undefined> {
  const rows = await refundsOfPayment(db, query, readerShape({ owner: query.owner ?? '' }))
  if (rows.length === 0) return undefined
  return rows.filter((row) => row.id !== null).map(refundOf)
}

/** @returns `undefined` if there is no such refund of this payment, or the payment is another owner's */
export async function getRefund(
  db: Queryable,
  query: Values & { readonly refund_id: string },
): Promise<RefundResource | undefined> {
  const { refund_id, ...payment } = query
  return (await listRefunds(db, payment))?.find(({ id }) => id === refund_id)
}
