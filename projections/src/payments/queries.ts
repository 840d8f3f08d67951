// The questions about payments. Each is asked on behalf of one owner; there is no way to ask without.

import { foldEmail } from '@paylog/domain/owner'
import type { ListedPayment, PaymentResource } from '@paylog/domain/payments/resource'
import type { PaymentStatus } from '@paylog/domain/payments/status'
import { sql } from 'kysely'
import { foldCase } from '../foldCase.ts'
import { type Queryable, readModels, runNamed } from '../namedQuery.ts'
import { type ListedRecord, listedColumns, listedPayment, singleColumns, singlePayment } from './views.ts'

export type PaymentOrder = 'created_at' | 'amount_cents' | 'status' | 'updated_at'

export type PaymentsQuestion = {
  /** Whose payments; see `ownerOf`. */
  readonly owner: string
  readonly status: PaymentStatus | undefined
  /** Part of the id, an e-mail or the description, in any case. */
  readonly search: string | undefined
  readonly guest_email: string | undefined
  /** Both bounds are exclusive. */
  readonly created_after: Date | undefined
  readonly created_before: Date | undefined
  readonly orderBy: PaymentOrder
  readonly orderDir: 'asc' | 'desc'
  readonly page: number
  readonly limit: number
  /** Whether each payment carries the summary of its method. */
  readonly withMethod: boolean
}

/** One page of an owner's payments, and how many there are in all, both as of the same moment. */
export async function listPayments(
  db: Queryable,
  question: PaymentsQuestion,
): Promise<{ readonly payments: readonly ListedPayment[]; readonly total: number }> {
  const { orderBy, orderDir, page, limit } = question
  const matching = matchingPayments(question)
  const total = matching.select(({ fn }) => fn.countAll().as('total'))
  const paged = matching
    .select(listedColumns)
    .orderBy(orderBy, orderDir)
    .orderBy('id', orderDir)
    .limit(limit)
    .offset((page - 1) * limit)
  // The count is one row, so that a page past the end still tells the total.
  const query = readModels
    .selectFrom(total.as('counted'))
    .leftJoin(paged.as('paged'), (join) => join.onTrue())
    .select('counted.total')
    .select(listedColumns.map((column) => `paged.${column}` as const))
    .orderBy(`paged.${orderBy}`, orderDir)
    .orderBy('paged.id', orderDir)
  const rows = await runNamed(db, query.compile())
  const payments = rows.filter(isPayment).map(listedPayment)
  return {
    payments: question.withMethod ? payments.map((payment) => ({ ...payment, payment_method: null })) : payments,
    total: Number(rows[0]?.total ?? 0),
  }
}

/** One payment of an owner, and its revision; nothing when there is none or it is someone else's. */
export async function getPayment(
  db: Queryable,
  question: { readonly id: string; readonly owner: string },
): Promise<{ readonly payment: PaymentResource; readonly revision: bigint } | undefined> {
  const query = readModels
    .selectFrom('payments')
    .select(singleColumns)
    .where('id', '=', question.id)
    .where('owner', '=', question.owner)
  const [record] = await runNamed(db, query.compile())
  return record && { payment: singlePayment(record), revision: BigInt(record.revision) }
}

function matchingPayments(question: PaymentsQuestion) {
  const { owner, status, search, guest_email, created_after, created_before } = question
  let query = readModels.selectFrom('payments').where('owner', '=', owner)
  if (status !== undefined) query = query.where('status', '=', status)
  if (created_after !== undefined) query = query.where('created_at', '>', created_after)
  if (created_before !== undefined) query = query.where('created_at', '<', created_before)
  if (search !== undefined && search !== '') query = query.where('search_text', 'like', containing(search))
  if (guest_email !== undefined) query = query.where(sql<boolean>`${asciiLower} = ${foldEmail(guest_email)}`)
  return query
}

/** What `foldEmail` does, in SQL. */
const asciiLower = sql`translate(guest_email, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', 'abcdefghijklmnopqrstuvwxyz')`

/** The pattern for a substring: what has a meaning in a pattern stands for itself. */
function containing(search: string): string {
  return `%${foldCase(search).replaceAll(/[\\%_]/g, '\\$&')}%`
}

function isPayment<Row extends { readonly id: string | null }>(row: Row): row is Row & ListedRecord {
  return row.id !== null
}
