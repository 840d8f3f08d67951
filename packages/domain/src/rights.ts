// What administrators may do. Without imports, because the console has the list too.

/** `read` covers everybody's payments and lists, `export` the log, `privacy` erasures, `charge` payments of others. */
export const rights = ['read', 'refund', 'operate', 'export', 'privacy', 'charge'] as const
export type Right = (typeof rights)[number]
