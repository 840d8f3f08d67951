// Who may read a payment: its owner, and the guest whose e-mail the request named, even if a session made it.
import { type RawBuilder, sql } from 'kysely'
import type { Placeholder } from '../queries/namedQuery.ts'
import { guestEmailEquals } from '../queries/textFilters.ts'

export type ReaderShape = { readonly isGuest: boolean }

const guestPrefix = 'guest:'

export const readerShape = ({ owner }: { readonly owner: string }): ReaderShape => ({
  isGuest: owner.startsWith(guestPrefix),
})

/** For a guest, payments with its e-mail, whoever made them; for a user its own. @param owner see `ownerOf` */
export function isReadBy(owner: Placeholder<string>, { isGuest }: ReaderShape): RawBuilder<boolean> {
  return isGuest
    ? guestEmailEquals(owner.through((guest) => guest.slice(guestPrefix.length)))
    : sql<boolean>`owner = ${owner}`
}
