// Tells a database that is away from a mistake of ours.

/** Of Postgres: no connection, no resources, shutting down or starting up. Of the system: not reached, or cut off. */
const awayCodes =
  /^(08...|53...|57P0.|ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN)$/

/** pg gives these failures no code. */
const awayMessages = [
  'Query read timeout',
  'timeout exceeded when trying to connect',
  'timeout expired',
  'Connection terminated',
  'Client has encountered a connection error and is not queryable',
]

/** Whether the error says that Postgres cannot be used now, and not that the statement was wrong. */
export function isDatabaseAway(error: unknown): boolean {
  if (error instanceof AggregateError) return error.errors.some(isDatabaseAway)
  if (!(error instanceof Error)) return false
  if ('code' in error && typeof error.code === 'string') return awayCodes.test(error.code)
  return awayMessages.some((message) => error.message.startsWith(message))
}
