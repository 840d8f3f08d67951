// Who owns what in the measured tables. Every name follows from a number, alike here and in SQL, so that pgbench can draw
// a number and ask about the same owner and the same row as the service is asked about.
import { createHash } from 'node:crypto'
import { userOwner } from '@paylog/domain/actor'

export type Thing = 'payment' | 'method' | 'address' | 'product'

export const rowsPerOwner = 50
/** One owner more with this many rows, and a second one with ten times as many. */
export const manyRows = 1_000

/**
 * How the rows of a table are spread: `rows` over ordinary owners, numbered from 1, and two owners with many. Products have
 * no owners; whoever asks for them owns nothing else.
 */
export function spread(rows: number) {
  const ordinary = rows / rowsPerOwner
  const asking = { withThousand: ordinary + 1, withTenThousand: ordinary + 2, administrator: ordinary + 3 }
  return { rows, products: Math.ceil(rows / 10), ordinary, ...asking }
}
export type Spread = ReturnType<typeof spread>

/** The ordinary owner of a row, both by number. */
export const ownerOfRow = (row: number, { ordinary }: Spread) => 1 + (row % ordinary)
export const ownerOfRowSql = (row: string, { ordinary }: Spread) => `1 + ${row} % ${ordinary}`

export const sessionOf = (owner: number) => `bench-session-${owner}`

export const userId = (owner: number) => uuidOf(`user ${owner}`)
export const owner = (number: number) => userOwner(userId(number))
export const ownerSql = (number: string) => `('${userOwner('')}' || md5('user ' || ${number}::text)::uuid::text)`

/** Ids in no order, as those of version 4 are. */
export const idOf = (thing: Thing, row: number) => uuidOf(`${thing} ${row}`)
export const idSql = (thing: Thing, row: string) => `md5('${thing} ' || ${row}::text)::uuid`

function uuidOf(name: string): string {
  const hex = createHash('md5').update(name).digest('hex')
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
}
