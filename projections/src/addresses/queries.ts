// Queries for addresses.

import { AddressResource } from '@paylog/domain/addresses/address'
import type { AddressType } from '@paylog/domain/addresses/events'
import { sql } from 'kysely'
import { isDefault } from '../defaults/queries.ts'
import {
  type Found,
  type ListOrder,
  type ListPage,
  type PageParameters,
  pageQuery,
  type ResourceQuery,
  toListPage,
} from '../queries/listPage.ts'
import {
  type Placeholder,
  prepareQuery,
  type Queryable,
  type QueryParameters,
  queryBuilder,
} from '../queries/namedQuery.ts'
import { resourceOf, shownColumns } from '../queries/resources.ts'
import { guestEmailEquals } from '../queries/textFilters.ts'
import { type AddressRecord, addressColumns } from './projection.ts'

const views = queryBuilder<{ readonly addresses: AddressRecord }>('read_models')

/** The columns of a list. A single address also has its revision, for the ETag. */
const shown = shownColumns(AddressResource, addressColumns)
const addressOf = resourceOf(AddressResource)

const isDefaultAddress = isDefault('addresses', sql`addresses.address_type || '_addresses'`).as('is_default')

type Values = PageParameters & {
  /** The owner; see `ownerOf`. */
  readonly owner: string
  readonly address_type?: AddressType | undefined
  readonly guest_email?: string | undefined
}

export type AddressesQuery = Values & ListOrder

const addressesPage = prepareQuery((parameters: QueryParameters<Values>, order: ListOrder) => {
  const { owner, address_type, guest_email } = parameters
  let matching = notRemoved(owner).select(shown).select(isDefaultAddress)
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
  notRemoved(owner).select(shown).select(['revision', isDefaultAddress]).where('id', '=', id),
)

/** @returns `undefined` if the address is missing, removed or another owner's */
export async function getAddress(db: Queryable, query: ResourceQuery): Promise<Found<AddressResource> | undefined> {
  const [record] = await addressById(db, query, {})
  return record && { item: addressOf(record), revision: BigInt(record.revision) }
}

/** A literal `not is_removed`: with a parameter, a prepared plan could not use the partial index. */
function notRemoved(owner: Placeholder<string>) {
  return views
    .selectFrom('addresses')
    .where('owner', '=', owner)
    .where(({ not, ref }) => not(ref('is_removed')))
}
