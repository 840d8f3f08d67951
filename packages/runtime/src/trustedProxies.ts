// Whose word about the client's address is taken.
import { isIP } from 'node:net'

/** Whether this is an IP address or a CIDR range: `10.0.0.0/8`, `::1`. */
export function isAddressRange(word: string): boolean {
  const [address = '', bits, ...rest] = word.split('/')
  const family = isIP(address)
  if (family === 0 || rest.length > 0) return false
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128))
}
