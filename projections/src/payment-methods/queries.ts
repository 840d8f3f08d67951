// The questions about saved payment methods. Each is asked on behalf of one owner, and none tells of a removed method.
import type { PaymentMethodResource } from '@paylog/domain/payment-methods/resource'
import { guestEmailIs } from '../queries/guestEmail.ts'
import { type Asked, type Placeholder, prepare, type Queryable } from '../queries/namedQuery.ts'
import {
  type Found,
  type Order,
  type Page,
  type Paging,
  pageOf,
  readPage,
  type SingleQuestion,
} from '../queries/page.ts'
import { methodColumns, paymentMethodOf, views } from './views.ts'

type Values = Paging & {
  /** Whose methods; see `ownerOf`. */
  readonly owner: string
  readonly guest_email?: string | undefined
}

export type PaymentMethodsQuestion = Values & Order

const pageOfPaymentMethods = prepare((asked: Asked<Values>, order: Order) => {
  const { owner, guest_email } = asked
  let matching = kept(owner).select(methodColumns)
  if (guest_email !== undefined) matching = matching.where(guestEmailIs(guest_email))
  return pageOf(matching, asked, order)
})

export async function listPaymentMethods(
  db: Queryable,
  { orderBy, orderDir, ...values }: PaymentMethodsQuestion,
): Promise<Page<PaymentMethodResource>> {
  return readPage(await pageOfPaymentMethods(db, values, { orderBy, orderDir }), paymentMethodOf)
}

const oneMethod = prepare(({ id, owner }: Asked<SingleQuestion>) =>
  kept(owner).select(methodColumns).select('revision').where('id', '=', id),
)

/** Nothing when there is none, or it was removed, or it is someone else's. */
export async function getPaymentMethod(
  db: Queryable,
  question: SingleQuestion,
): Promise<Found<PaymentMethodResource> | undefined> {
  const [record] = await oneMethod(db, question, {})
  return record && { item: paymentMethodOf(record), revision: BigInt(record.revision) }
}

/** `not is_removed` in these words: were it compared with a parameter, a prepared plan could not use the partial index. */
function kept(owner: Placeholder<string>) {
  return views
    .selectFrom('payment_methods')
    .where('owner', '=', owner)
    .where(({ not, ref }) => not(ref('is_removed')))
}
