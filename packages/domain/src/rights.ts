// What callers may do beyond what is theirs. Without imports, because the console has the list too.

/**
 * `read` covers everybody's payments, lists and what the system does; `refund` refunds, captures and cancels; `operate` endpoints,
 * redelivery, projections, jobs and products; `export` the log and files of lists; `privacy` erasures; `charge` payments of others.
 */
export const rights = ['read', 'refund', 'operate', 'export', 'privacy', 'charge'] as const
export type Right = (typeof rights)[number]

/** The rights of a caller. */
export type GrantedRights = {
  readonly rights: readonly Right[]
  /** The largest single refund, in hundredths of the main unit of any currency; null for no limit, or no right to refund. */
  readonly refund_limit_cents: number | null
}

export const allRights: GrantedRights = { rights, refund_limit_cents: null }
export const noRights: GrantedRights = { rights: [], refund_limit_cents: null }

/**
 * A limit in the minor units of a currency, rounded down: 50000 is 50000 with two decimals, 500 without, 500000 with three.
 * @param limitCents in hundredths of the main unit
 * @param decimals of the currency
 */
export const limitInMinorUnits = (limitCents: number, decimals: number): number =>
  decimals < 2 ? Math.floor(limitCents / 10 ** (2 - decimals)) : limitCents * 10 ** (decimals - 2)
