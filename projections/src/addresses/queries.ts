// The questions about addresses. Each is asked on behalf of one owner, and none tells of a removed address.
import type { AddressType } from '@paylog/domain/addresses/events'
import type { AddressResource } from '@paylog/domain/addresses/resource'
import { guestEmailIs } from '../guestEmail.ts'
import { type Queryable, readModels, runNamed } from '../namedQuery.ts'
import { type Found, type Page, type Paging, readPage, type SingleQuestion } from '../page.ts'
import { addressColumns, addressOf } from './views.ts'

export type AddressesQuestion = Paging & {
  /** Whose addresses; see `ownerOf`. */
  readonly owner: string
  readonly address_type: AddressType | undefined
  readonly guest_email: string | undefined
}

export async function listAddresses(db: Queryable, question: AddressesQuestion): Promise<Page<AddressResource>> {
  const { owner, address_type, guest_email } = question
  let matching = kept(owner).select(addressColumns)
  if (address_type !== undefined) matching = matching.where('address_type', '=', address_type)
  if (guest_email !== undefined) matching = matching.where(guestEmailIs(guest_email))
  const { items, total } = await readPage(db, matching, question)
  return { items: items.map(addressOf), total }
}

/** Nothing when there is none, or it was removed, or it is someone else's. */
export async function getAddress(
  db: Queryable,
  { id, owner }: SingleQuestion,
): Promise<Found<AddressResource> | undefined> {
  const query = kept(owner).select(addressColumns).select('revision').where('id', '=', id)
  const [record] = await runNamed(db, query.compile())
  return record && { item: addressOf(record), revision: BigInt(record.revision) }
}

/** `not is_removed` in these words: were it compared with a parameter, a prepared plan could not use the partial index. */
function kept(owner: string) {
  return readModels
    .selectFrom('addresses')
    .where('owner', '=', owner)
    .where(({ not, ref }) => not(ref('is_removed')))
}
