// Queries for addresses. Columns are listed one by one, so that new ones are not exposed by accident.

import type { AddressResource } from '@paylog/domain/addresses/address'
import { type AddressType, addressContentOf } from '@paylog/domain/addresses/events'
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
import { guestEmailEquals } from '../queries/textFilters.ts'
import type { AddressRow } from './projection.ts'

/** A row of the view `addresses`. */
export type AddressRecord = AddressRow & { readonly id: string; readonly revision: number }

const views = queryBuilder<{ readonly addresses: AddressRecord }>('read_models')

/** The columns of a list. A single address also has its revision, for the ETag. */
const addressColumns = [
  'id',
  'user_id',
  'guest_email',
  'address_type',
  'organization_id',
  'name',
  'line1',
  'line2',
  'city',
  'state',
  'postal_code',
  'country',
  'is_partial',
  'is_business',
  'business_name',
  'tax_id',
  'tax_id_type',
  'phone',
  'email',
  'alias',
  'guest_name',
  'created_at',
  'updated_at',
] as const satisfies readonly (keyof AddressRecord)[]

const isDefaultAddress = isDefault('addresses', sql`addresses.address_type || '_addresses'`).as('is_default')

type SelectedAddress = Pick<AddressRecord, (typeof addressColumns)[number]> & { readonly is_default: boolean }

function addressOf(record: SelectedAddress): AddressResource {
  return {
    id: record.id,
    user_id: record.user_id,
    guest_email: record.guest_email,
    ...addressContentOf(record),
    is_default: record.is_default,
    created_at: record.created_at,
    updated_at: record.updated_at,
  }
}

type Values = PageParameters & {
  /** The owner; see `ownerOf`. */
  readonly owner: string
  readonly address_type?: AddressType | undefined
  readonly guest_email?: string | undefined
}

export type AddressesQuery = Values & ListOrder

const addressesPage = prepareQuery((parameters: QueryParameters<Values>, order: ListOrder) => {
  const { owner, address_type, guest_email } = parameters
  let matching = notRemoved(owner).select(addressColumns).select(isDefaultAddress)
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
  notRemoved(owner).select(addressColumns).select(['revision', isDefaultAddress]).where('id', '=', id),
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
