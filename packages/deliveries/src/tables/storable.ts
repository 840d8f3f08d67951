// Text that others chose, made fit for the database.

/**
 * Text that Postgres accepts. One refused row would stop the whole subscription for ever, so what others chose (ids,
 * response bodies) loses its NULs and unpaired surrogates here. JSON bodies hold neither.
 */
export function toPostgresText(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\ufffd')
}
