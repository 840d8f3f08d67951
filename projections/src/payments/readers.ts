// Who may read a payment: its owner, and the guest whose e-mail the request named, even if a session made it.
import { sql } from 'kysely'
import { hasGuestEmail } from '../queries/filters.ts'
import type { Sql } from '../queries/runQuery.ts'

const guestPrefix = 'guest:'

/** For a guest, payments with its e-mail, whoever made them; for a user its own. @param owner see `ownerOf` */
export const isReadBy = (owner: string): Sql =>
  owner.startsWith(guestPrefix) ? hasGuestEmail(owner.slice(guestPrefix.length)) : sql`owner = ${owner}`
