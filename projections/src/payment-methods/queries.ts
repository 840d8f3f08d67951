// The questions about saved payment methods. Each is asked on behalf of one owner, and none tells of a removed method.
import type { PaymentMethodResource } from '@paylog/domain/payment-methods/resource'
import { guestEmailIs } from '../guestEmail.ts'
import { type Queryable, readModels, runNamed } from '../namedQuery.ts'
import { type Found, type Page, type Paging, readPage, type SingleQuestion } from '../page.ts'
import { methodColumns, paymentMethodOf } from './views.ts'

export type PaymentMethodsQuestion = Paging & {
  /** Whose methods; see `ownerOf`. */
  readonly owner: string
  readonly guest_email: string | undefined
}

export async function listPaymentMethods(
  db: Queryable,
  question: PaymentMethodsQuestion,
): Promise<Page<PaymentMethodResource>> {
  const { owner, guest_email } = question
  let matching = kept(owner).select(methodColumns)
  if (guest_email !== undefined) matching = matching.where(guestEmailIs(guest_email))
  const { items, total } = await readPage(db, matching, question)
  return { items: items.map(paymentMethodOf), total }
}

/** Nothing when there is none, or it was removed, or it is someone else's. */
export async function getPaymentMethod(
  db: Queryable,
  { id, owner }: SingleQuestion,
): Promise<Found<PaymentMethodResource> | undefined> {
  const query = kept(owner).select(methodColumns).select('revision').where('id', '=', id)
  const [record] = await runNamed(db, query.compile())
  return record && { item: paymentMethodOf(record), revision: BigInt(record.revision) }
}

/** `not is_removed` in these words: were it compared with a parameter, a prepared plan could not use the partial index. */
function kept(owner: string) {
  return readModels
    .selectFrom('payment_methods')
    .where('owner', '=', owner)
    .where(({ not, ref }) => not(ref('is_removed')))
}
