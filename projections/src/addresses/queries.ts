// The questions about addresses. Each is asked on behalf of one owner, and none tells of a removed address.
import type { AddressType } from '@paylog/domain/addresses/events'
import type { AddressResource } from '@paylog/domain/addresses/resource'
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
import { addressColumns, addressOf, views } from './views.ts'

type Values = PageParameters & {
  /** Whose addresses; see `ownerOf`. */
  readonly owner: string
  readonly address_type?: AddressType | undefined
  readonly guest_email?: string | undefined
}

export type AddressesQuery = Values & ListOrder

const addressesPage = prepareQuery((parameters: QueryParameters<Values>, order: ListOrder) => {
  const { owner, address_type, guest_email } = parameters
  let matching = notRemoved(owner).select(addressColumns)
  if (address_type !== undefined) matching = matching.where('address_type', '=', address_type)
  if (guest_email !== undefined) matching = matching.where(guestEmailEquals(guest_email))
  return pageQuery(matching, parameters, order)
})

export async function listAddresses(
  db: Queryable,
  { orderBy, orderDir, ...values }: AddressesQuery,
): Promise<ListPage<AddressResource>> {
  return toListPage(await addressesPage(db, values, { orderBy, orderDir }), addressOf)
}

const addressById = prepareQuery(({ id, owner }: QueryParameters<ResourceQuery>) =>
  notRemoved(owner).select(addressColumns).select('revision').where('id', '=', id),
)

/** Nothing when there is none, or it was removed, or it is someone else's. */
export async function getAddress(db: Queryable, query: ResourceQuery): Promise<Found<AddressResource> | undefined> {
  const [record] = await addressById(db, query, {})
  return record && { item: addressOf(record), revision: BigInt(record.revision) }
}

/** `not is_removed` in these words: were it compared with a parameter, a prepared plan could not use the partial index. */
function notRemoved(owner: Placeholder<string>) {
  return views
    .selectFrom('addresses')
    .where('owner', '=', owner)
    .where(({ not, ref }) => not(ref('is_removed')))
}
