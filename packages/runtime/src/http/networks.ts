// IP addresses: ranges, and the network of a client.
import { BlockList, type IPVersion, isIP, isIPv4, isIPv6 } from 'node:net'

type Range = { readonly address: string; readonly prefix: number; readonly family: IPVersion }

/** 10.0.0.0/8 and fc00::/7 are the widest private ranges; a wider one is not a single operator's. */
const shortestPrefix = { ipv4: 8, ipv6: 7 }

/** Whether this is an IP address or a range that can hold proxies: `::1`, `10.0.0.0/8`, but not `0.0.0.0/0`. */
export function isProxyRange(text: string): boolean {
  const range = parseRange(text)
  return range !== undefined && range.prefix >= shortestPrefix[range.family]
}

/**
 * Whether only this machine can reach a host, as in HOST or in a URL. Names other than localhost are not resolved, because they
 * may change.
 */
export function isLoopback(host: string): boolean {
  return /^(localhost|::1|\[::1\]|127(\.\d{1,3}){3})$/.test(host)
}

/** Whether this is a CIDR range: `10.0.0.0/8`, `::1/128`. */
export function isRange(text: string): boolean {
  return text.includes('/') && parseRange(text) !== undefined
}

/**
 * @returns whether an address is in one of the ranges; invalid addresses are in none
 * @throws Error for an invalid range
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
  // A zone (`fe80::1%eth0`) names an interface, which a range cannot have.
  const isPrefix = /^\d{1,3}$/.test(bits) && Number(bits) <= longest && !address.includes('%')
  return isPrefix ? { address, prefix: Number(bits), family } : undefined
}

const familyOf = (address: string): IPVersion => (isIPv6(address) ? 'ipv6' : 'ipv4')

/** Prefix lengths that identify a network. */
type NetworkBits = { readonly ipv4: 24 | 32; readonly ipv6: 48 | 64 }
/** One client, which has all IPv6 addresses of a /64. */
const oneClient: NetworkBits = { ipv4: 32, ipv6: 64 }
/** One household or company, whose devices change their addresses within it. */
export const oneSite: NetworkBits = { ipv4: 24, ipv6: 48 }

/**
 * @param address from a socket or a proxy; a port, which some proxies add, is ignored
 * @returns the network of the address, by default the address itself for IPv4; IPv4-mapped IPv6 counts as IPv4. `unknown`
 *   for an invalid address
 */
export function clientNetwork(address: string, bits = oneClient): string {
  if (bits === oneClient && isIPv4(address)) return address
  const [, bracketed, plain] = /^(?:\[([^\]]+)\]|([\d.]+))(?::\d+)?$/.exec(address) ?? []
  const [ip = ''] = (bracketed ?? plain ?? address).split('%')
  if (!isIPv6(ip)) return isIP(ip) === 0 ? 'unknown' : ipv4Network(ip.split('.'), bits)
  // The URL parser normalises addresses: lower case, compressed, and without a dotted IPv4 part.
  const [head = '', tail = ''] = new URL(`http://[${ip}]`).hostname.slice(1, -1).split('::')
  const [first, last] = [groupsOf(head), groupsOf(tail)]
  const groups = [...first, ...Array.from({ length: 8 - first.length - last.length }, () => '0'), ...last]
  const isMappedIPv4 = groups.slice(0, 6).join(':') === '0:0:0:0:0:ffff'
  if (isMappedIPv4) return ipv4Network(groups.slice(6).flatMap(bytesOf), bits)
  return `${groups.slice(0, bits.ipv6 / 16).join(':')}::/${bits.ipv6}`
}

function ipv4Network(bytes: readonly (string | number)[], { ipv4 }: NetworkBits): string {
  return ipv4 === 32 ? bytes.join('.') : `${bytes.slice(0, 3).join('.')}.0/24`
}

const groupsOf = (text: string) => (text === '' ? [] : text.split(':'))

function bytesOf(group: string): number[] {
  const value = Number.parseInt(group, 16)
  return [value >> 8, value & 255]
}
