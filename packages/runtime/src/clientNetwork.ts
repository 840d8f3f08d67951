// Tells clients apart by where they are, as far as an address says that.
import { isIP, isIPv6 } from 'node:net'

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
