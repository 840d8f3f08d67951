// Ids as PayPal makes them.
import { randomBytes } from 'node:crypto'

const letters = 'ABCDEFGHJKLMNPRSTUVWXY0123456789'

/** Seventeen capitals and digits. */
export function paypalId(): string {
  return Array.from(randomBytes(17), (byte) => letters[byte % letters.length]).join('')
}
