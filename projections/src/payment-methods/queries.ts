// The questions about saved payment methods. Each is asked on behalf of one owner, and none tells of a removed method.
import type { PaymentMethodResource } from '@paylog/domain/payment-methods/resource'
import { guestEmailEquals } from '../queries/guestEmail.ts'
import { type QueryParameters, type Placeholder, prepareQuery, type Queryable } from '../queries/namedQuery.ts'
import {
  type Found,
  type ListOrder,
  type ListPage,
  type PageParameters,
  pageQuery,
  toListPage,
  type ResourceQuery,
} from '../queries/page.ts'
import { methodColumns, paymentMethodOf, views } from './views.ts'

type Values = PageParameters & {
  /** Whose methods; see `ownerOf`. */
  readonly owner: string
  readonly guest_email?: string | undefined
}

export type PaymentMethodsQuery = Values & ListOrder

const paymentMethodsPage = prepareQuery((parameters: QueryParameters<Values>, order: ListOrder) => {
  const { owner, guest_email } = parameters
  let matching = notRemoved(owner).select(methodColumns)
  if (guest_email !== undefined) matching = matching.where(guestEmailEquals(guest_email))
  return pageQuery(matching, parameters, order)
})

export async function listPaymentMethods(
  db: Queryable,
  { orderBy, orderDir, ...values }: PaymentMethodsQuery,
): Promise<ListPage<PaymentMethodResource>> {
  return toListPage(await paymentMethodsPage(db, values, { orderBy, orderDir }), paymentMethodOf)
}

const methodById = prepareQuery(({ id, owner }: QueryParameters<ResourceQuery>) =>
  notRemoved(owner).select(methodColumns).select('revision').where('id', '=', id),
)

/** Nothing when there is none, or it was removed, or it is someone else's. */
export async function getPaymentMethod(
  db: Queryable,
  query: ResourceQuery,
): Promise<Found<PaymentMethodResource> | undefined> {
  const [record] = await methodById(db, query, {})
  return record && { item: paymentMethodOf(record), revision: BigInt(record.revision) }
}

/** `not is_removed` in these words: were it compared with a parameter, a prepared plan could not use the partial index. */
function notRemoved(owner: Placeholder<string>) {
  return views
    .selectFrom('payment_methods')
    .where('owner', '=', owner)
    .where(({ not, ref }) => not(ref('is_removed')))
}
