// Distinguishes an unavailable database from errors in statements.

/** Postgres: connection failures, no resources, shutting down or starting up. System: unreachable or disconnected. */
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

/** Whether the error means that Postgres is unavailable, not that the statement is wrong. */
export function isDatabaseUnavailable(error: unknown): boolean {
  if (error instanceof AggregateError) return error.errors.some(isDatabaseUnavailable)
  if (!(error instanceof Error)) return false
  if ('code' in error && typeof error.code === 'string') return unavailableCodes.test(error.code)
  return unavailableMessages.some((message) => error.message.startsWith(message))
}

/** undefined_table, undefined_column and invalid_schema_name. */
const missingObjectCodes = ['42P01', '42703', '3F000']

/** Whether Postgres is there and rejects user or password: invalid_password, invalid_authorization_specification. */
export const isLoginRefused = (error: unknown) =>
  error instanceof Error && 'code' in error && (error.code === '28P01' || error.code === '28000')

/** Advice to an operator about a database error; undefined for other errors. */
export function databaseAdvice(error: Error): string | undefined {
  const { code, syscall } = { code: undefined, syscall: undefined, ...error }
  if (syscall === 'connect') return `Postgres cannot be reached: ${error.message}`
  if (isLoginRefused(error)) return `Postgres refuses the login in DATABASE_URL: ${error.message}`
  if (!missingObjectCodes.includes(String(code))) return undefined
  return `the tables of this database do not match this version: run \`npm run -s ops -- migrate\` first (${error.message})`
}
