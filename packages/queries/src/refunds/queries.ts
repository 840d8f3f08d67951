// Queries for the refunds of a payment.
import { RefundResource } from '@paylog/domain/payments/refunds'
import { sql } from 'kysely'
import type { Found } from '../lists/lists.ts'
import { type Queryable, runQuery } from '../lists/runQuery.ts'
import { isReadBy } from '../payments/queries.ts'

type RefundsQuery = {
  /** Of the payment. */
  readonly id: string
  /** The owner of the payment; see `ownerOf`. Undefined for an administrator, who reads all. */
  readonly owner?: string | undefined
}

const fields = sql.join(Object.keys(RefundResource.properties).map((name) => sql.ref(`refunds.${name}`)))

type RefundRow = RefundResource & { readonly revision: number }

async function rowsOf(db: Queryable, { id, owner }: RefundsQuery): Promise<RefundRow[] | undefined> {
  // A payment without refunds is a row without an id; a payment that the caller may not read is none.
  const rows = await runQuery(
    db,
    sql<RefundRow | { readonly id: null }>`
      select ${fields}, refunds.revision from read_models.payments left join read_models.refunds on refunds.payment_id = payments.id
      where payments.id = ${id} and ${owner === undefined ? sql`true` : isReadBy(owner)}
      order by refunds.created_at desc, refunds.id desc`,
  )
  return rows.length === 0 ? undefined : rows.filter((row) => row.id !== null)
}

/** The refunds of a payment, newest first. @returns `undefined` if the payment is missing or another owner's */
export async function listRefunds(db: Queryable, query: RefundsQuery): Promise<RefundResource[] | undefined> {
  return (await rowsOf(db, query))?.map(({ revision: _, ...refund }) => refund)
}

/**
 * A refund, and the revision of the payment right after the last event of the refund.
 * @returns `undefined` if there is no such refund of this payment, or the payment is another owner's
 */
export async function getRefund(
  db: Queryable,
  { refund_id, ...payment }: RefundsQuery & { readonly refund_id: string },
): Promise<Found<RefundResource> | undefined> {
  const found = (await rowsOf(db, payment))?.find(({ id }) => id === refund_id)
  if (found === undefined) return undefined
  const { revision, ...item } = found
  return { item, revision: BigInt(revision) }
}
