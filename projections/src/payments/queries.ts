// The questions about payments. Each is asked on behalf of one owner; there is no way to ask without.
import type { ListedPayment, PaymentResource } from '@paylog/domain/payments/resource'
import type { PaymentStatus } from '@paylog/domain/payments/status'
import { sql } from 'kysely'
import { foldCase } from '../foldCase.ts'
import { guestEmailIs } from '../guestEmail.ts'
import { type Queryable, readModels, runNamed } from '../namedQuery.ts'
import { type Found, type Page, type Paging, readPage, type SingleQuestion } from '../page.ts'
import { methodSummary } from '../payment-methods/views.ts'
import { listedColumns, listedPayment, type SingleRecord, singleColumns, singlePayment } from './views.ts'

export type PaymentOrder = 'created_at' | 'amount_cents' | 'status' | 'updated_at'

export type PaymentsQuestion = Paging<PaymentOrder> & {
  /** Whose payments; see `ownerOf`. */
  readonly owner: string
  readonly status: PaymentStatus | undefined
  /** Part of the id, an e-mail or the description, in any case. */
  readonly search: string | undefined
  readonly guest_email: string | undefined
  /** Both bounds are exclusive. */
  readonly created_after: Date | undefined
  readonly created_before: Date | undefined
  /** Whether each payment carries the summary of its method. */
  readonly withMethod: boolean
}

export async function listPayments(db: Queryable, question: PaymentsQuestion): Promise<Page<ListedPayment>> {
  const related = question.withMethod ? methodSummary(question.owner, 'paged.payment_method_id') : undefined
  const { items, total } = await readPage(db, matchingPayments(question), question, related)
  return { items: items.map(listedPayment), total }
}

/** Nothing when there is none or it is someone else's. */
export async function getPayment(
  db: Queryable,
  { id, owner }: SingleQuestion,
): Promise<Found<PaymentResource> | undefined> {
  const payment = readModels
    .selectFrom('payments')
    .select(singleColumns)
    .where('id', '=', id)
    .where('owner', '=', owner)
  const { column, join } = methodSummary(owner, 'payment.payment_method_id')
  const query = sql<SingleRecord>`select payment.*, ${column} from ${payment} as payment ${join}`
  const [record] = await runNamed(db, query.compile(readModels))
  return record && { item: singlePayment(record), revision: BigInt(record.revision) }
}

function matchingPayments(question: PaymentsQuestion) {
  const { owner, status, search, guest_email, created_after, created_before } = question
  let query = readModels.selectFrom('payments').select(listedColumns).where('owner', '=', owner)
  if (status !== undefined) query = query.where('status', '=', status)
  if (created_after !== undefined) query = query.where('created_at', '>', created_after)
  if (created_before !== undefined) query = query.where('created_at', '<', created_before)
  if (search !== undefined && search !== '') query = query.where('search_text', 'like', containing(search))
  if (guest_email !== undefined) query = query.where(guestEmailIs(guest_email))
  return query
}

/** The pattern for a substring: what has a meaning in a pattern stands for itself. */
function containing(search: string): string {
  return `%${foldCase(search).replaceAll(/[\\%_]/g, '\\$&')}%`
}
