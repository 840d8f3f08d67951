// Internet addresses: ranges of them, and the network that one is in.
import { BlockList, type IPVersion, isIP, isIPv6 } from 'node:net'

type Range = { readonly address: string; readonly prefix: number; readonly family: IPVersion }

/** Whether this is an IP address or a range: `::1`, `10.0.0.0/8`. */
export function isAddressOrRange(text: string): boolean {
  return parseRange(text) !== undefined
}

/** Whether this is a range, if of one address only: `10.0.0.0/8`, `::1/128`. */
export function isRange(text: string): boolean {
  return text.includes('/') && isAddressOrRange(text)
}

/**
 * Tells the addresses in some ranges from all others; one without a form that is known is in none.
 * @throws when a text is no range
 */
export function inRanges(ranges: readonly string[]): (address: string) => boolean {
  const list = new BlockList()
  for (const text of ranges) {
    const range = parseRange(text)
    if (range === undefined) throw new Error(`${text} is not a CIDR range`)
    list.addSubnet(range.address, range.prefix, range.family)
  }
  return (address) => isIP(address) !== 0 && list.check(address, familyOf(address))
}

function parseRange(text: string): Range | undefined {
  const [address = '', bits, ...more] = text.split('/')
  const family = familyOf(address)
  const longest = family === 'ipv4' ? 32 : 128
  if (isIP(address) === 0 || more.length > 0) return undefined
  if (bits === undefined) return { address, prefix: longest, family }
  // A zone (`fe80::1%eth0`) says which interface, and no range is on one.
  const isPrefix = /^\d{1,3}$/.test(bits) && Number(bits) <= longest && !address.includes('%')
  return isPrefix ? { address, prefix: Number(bits), family } : undefined
}

const familyOf = (address: string): IPVersion => (isIPv6(address) ? 'ipv6' : 'ipv4')

/**
 * @param address as a socket or a proxy gives it; some proxies add the port, which is another one for each connection
 * @returns the IPv4 address, or of IPv6 the /64, of which a client has all addresses
 */
export function clientNetwork(address: string): string {
  const [, bracketed, plain] = /^(?:\[([^\]]+)\]|([\d.]+))(?::\d+)?$/.exec(address) ?? []
  const [ip = ''] = (bracketed ?? plain ?? address).split('%')
  if (!isIPv6(ip)) return isIP(ip) === 0 ? 'unknown' : ip
  // The URL parser writes every address in one way: in lower case, short, and without a dotted end.
  const [head = '', tail = ''] = new URL(`http://[${ip}]`).hostname.slice(1, -1).split('::')
  const [first, last] = [groupsOf(head), groupsOf(tail)]
  const groups = [...first, ...Array.from({ length: 8 - first.length - last.length }, () => '0'), ...last]
  const isMappedIPv4 = groups.slice(0, 6).join(':') === '0:0:0:0:0:ffff'
  return isMappedIPv4 ? groups.slice(6).flatMap(bytesOf).join('.') : `${groups.slice(0, 4).join(':')}::/64`
}

const groupsOf = (text: string) => (text === '' ? [] : text.split(':'))

function bytesOf(group: string): number[] {
  const value = Number.parseInt(group, 16)
  return [value >> 8, value & 255]
}
