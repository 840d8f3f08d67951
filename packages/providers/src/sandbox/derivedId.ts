// Ids that follow from the fields of a request.
import { createHash } from 'node:crypto'

/** UUID-shaped: our check for card numbers could mistake a plain hash for one when a client sends the id back. */
export function derivedId(parts: readonly unknown[]): string {
  const digits = createHash('sha256').update(JSON.stringify(parts)).digest('hex')
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*$/, '$1-$2-$3-$4-$5')
}
