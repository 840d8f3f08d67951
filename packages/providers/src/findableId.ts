// Payment ids that can be found by their last digits: a provider may have room for no more of the id than that.
import { createHash, randomBytes } from 'node:crypto'

/** How many hexadecimal digits of an id suffice to find it. The others are a hash of them. */
const endLength = 20
const startLength = 12

/**
 * The one payment id that ends in these digits.
 * @param end 20 hexadecimal digits in lower case, from `endOfPaymentId`
 */
export function paymentIdEndingIn(end: string): string {
  const start = createHash('sha256').update(end).digest('hex').slice(0, startLength)
  return `${start}${end}`.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}

/** The last 20 hexadecimal digits of a UUID, in lower case. */
export function endOfPaymentId(id: string): string {
  return id.replaceAll('-', '').slice(-endLength).toLowerCase()
}

/** A random id that can be found by its end: a UUID of version 8, whose content RFC 9562 leaves to us. */
export function newFindableId(): string {
  const digits = randomBytes(endLength / 2).toString('hex')
  const variant = (8 + (Number.parseInt(digits.charAt(4), 16) % 4)).toString(16)
  return paymentIdEndingIn(`8${digits.slice(1, 4)}${variant}${digits.slice(5)}`)
}
