// Ids of the sandbox, which keeps nothing: they follow from what they are made of.
import { createHash } from 'node:crypto'

/**
 * The form of a UUID, because a run of digits in another form could look like a card number to us when a client sends
 * the id back.
 */
export function derivedId(parts: readonly unknown[]): string {
  const digits = createHash('sha256').update(JSON.stringify(parts)).digest('hex')
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*$/, '$1-$2-$3-$4-$5')
}
