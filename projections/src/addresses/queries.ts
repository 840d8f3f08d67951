// The questions about addresses. Each is asked on behalf of one owner, and none tells of a removed address.
import type { AddressType } from '@paylog/domain/addresses/events'
import type { AddressResource } from '@paylog/domain/addresses/resource'
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
import { addressColumns, addressOf, views } from './views.ts'

type Values = Paging & {
  /** Whose addresses; see `ownerOf`. */
  readonly owner: string
  readonly address_type?: AddressType | undefined
  readonly guest_email?: string | undefined
}

export type AddressesQuestion = Values & Order

const pageOfAddresses = prepare((asked: Asked<Values>, order: Order) => {
  const { owner, address_type, guest_email } = asked
  let matching = kept(owner).select(addressColumns)
  if (address_type !== undefined) matching = matching.where('address_type', '=', address_type)
  if (guest_email !== undefined) matching = matching.where(guestEmailIs(guest_email))
  return pageOf(matching, asked, order)
})

export async function listAddresses(
  db: Queryable,
  { orderBy, orderDir, ...values }: AddressesQuestion,
): Promise<Page<AddressResource>> {
  return readPage(await pageOfAddresses(db, values, { orderBy, orderDir }), addressOf)
}

const oneAddress = prepare(({ id, owner }: Asked<SingleQuestion>) =>
  kept(owner).select(addressColumns).select('revision').where('id', '=', id),
)

/** Nothing when there is none, or it was removed, or it is someone else's. */
export async function getAddress(db: Queryable, question: SingleQuestion): Promise<Found<AddressResource> | undefined> {
  const [record] = await oneAddress(db, question, {})
  return record && { item: addressOf(record), revision: BigInt(record.revision) }
}

/** `not is_removed` in these words: were it compared with a parameter, a prepared plan could not use the partial index. */
function kept(owner: Placeholder<string>) {
  return views
    .selectFrom('addresses')
    .where('owner', '=', owner)
    .where(({ not, ref }) => not(ref('is_removed')))
}
