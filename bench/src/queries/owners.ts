// Owners and ids of the measured tables. They are derived from row numbers in the same way here and in SQL, so that
// pgbench and the API query the same rows.
import { createHash } from 'node:crypto'
import { userOwner } from '@paylog/domain/actor'

export type Thing = 'payment' | 'method' | 'address' | 'product'

export const rowsPerOwner = 50
/** One more owner has this many rows, and a second one ten times as many. */
export const manyRows = 1_000

/**
 * Distribution of the rows of a table: `rows` over ordinary owners, numbered from 1, and two large owners. Products
 * have no owners; the administrator who queries them owns nothing else.
 */
export function spread(rows: number) {
  const ordinary = rows / rowsPerOwner
  const callers = { withThousand: ordinary + 1, withTenThousand: ordinary + 2, administrator: ordinary + 3 }
  return { rows, products: Math.ceil(rows / 10), ordinary, ...callers }
}
export type Spread = ReturnType<typeof spread>

/** The ordinary owner of a row, both by number. */
export const ownerOfRow = (row: number, { ordinary }: Spread) => 1 + (row % ordinary)
export const ownerOfRowSql = (row: string, { ordinary }: Spread) => `1 + ${row} % ${ordinary}`

export const sessionOf = (owner: number) => `bench-session-${owner}`

export const userId = (owner: number) => uuidOf(`user ${owner}`)
export const owner = (number: number) => userOwner(userId(number))
export const ownerSql = (number: string) => `('${userOwner('')}' || md5('user ' || ${number}::text)::uuid::text)`

/** Random ids, as of UUID version 4. */
export const idOf = (thing: Thing, row: number) => uuidOf(`${thing} ${row}`)
export const idSql = (thing: Thing, row: string) => `md5('${thing} ' || ${row}::text)::uuid`

function uuidOf(name: string): string {
  const hex = createHash('md5').update(name).digest('hex')
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
}
