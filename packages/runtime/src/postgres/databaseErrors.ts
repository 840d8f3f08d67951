// Tells a database that is away from a mistake of ours.

/** Of Postgres: no connection, no resources, shutting down or starting up. Of the system: not reached, or cut off. */
const unavailableCodes =
  /^(08...|53...|57P0.|ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN)$/

/** pg gives these failures no code. */
const unavailableMessages = [
  'Query read timeout',
  'timeout exceeded when trying to connect',
  'timeout expired',
  'Connection terminated',
  'Client has encountered a connection error and is not queryable',
]

/** Whether the error says that Postgres cannot be used now, and not that the statement was wrong. */
export function isDatabaseUnavailable(error: unknown): boolean {
  if (error instanceof AggregateError) return error.errors.some(isDatabaseUnavailable)
  if (!(error instanceof Error)) return false
  if ('code' in error && typeof error.code === 'string') return unavailableCodes.test(error.code)
  return unavailableMessages.some((message) => error.message.startsWith(message))
}

/** Of a table, a column or a schema that is not there. */
const missingObjectCodes = ['42P01', '42703', '3F000']

/** What an operator can do about an error that comes from the database as it is; nothing when there is nothing to add. */
export function databaseAdvice(error: Error): string | undefined {
  const { code, syscall } = { code: undefined, syscall: undefined, ...error }
  if (syscall === 'connect') return `Postgres cannot be reached: ${error.message}`
  if (!missingObjectCodes.includes(String(code))) return undefined
  return `the tables of this database are not of this version: run \`npm run -s ops -- migrate\` first (${error.message})`
}
