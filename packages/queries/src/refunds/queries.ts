// Queries for the refunds of a payment.
import { isGuestOwner } from '@paylog/domain/actor'
import { RefundResource } from '@paylog/domain/payments/refunds'
import { allOf, defineQuery, type Given, type Queryable } from '@paylog/runtime/postgres/runQuery'
import type { Found } from '../lists/lists.ts'
import { isReadBy } from '../payments/queries.ts'
import { readModels } from '../readModels.ts'

type RefundsQuery = {
  /** Of the payment. */
  readonly id: string
  /** The owner of the payment; see `ownerOf`. Undefined for who may read all. */
  readonly owner?: string | undefined
}

type RefundRow = RefundResource & { readonly revision: number }

const fields = Object.keys(RefundResource.properties) as (keyof RefundResource)[]

/** A payment without refunds is a row without an id; a payment that the caller may not read is none. */
const refundsOf = defineQuery((given: Given<RefundsQuery & { readonly isGuest: boolean }>) =>
  readModels
    .selectFrom('read_models.payments as item')
    .leftJoin('read_models.refunds as refunds', 'refunds.payment_id', 'item.id')
    .select([...fields.map((name) => `refunds.${name}` as const), 'refunds.revision'])
    .where('item.id', '=', given.id)
    .where((item) => allOf([given.owner && isReadBy(item, given.owner, given.isGuest)]))
    .orderBy('refunds.created_at', 'desc')
    .orderBy('refunds.id', 'desc')
    .$castTo<RefundRow | { readonly id: null }>(),
)

async function rowsOf(db: Queryable, query: RefundsQuery): Promise<RefundRow[] | undefined> {
  const rows = await refundsOf(db, { ...query, isGuest: isGuestOwner(query.owner ?? '') })
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
