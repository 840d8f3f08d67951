// Connections to endpoints, and their allowed addresses: a configured URL must not reach into the private network.
import { ADDRCONFIG, type LookupAddress } from 'node:dns'
import { lookup } from 'node:dns/promises'
import { isIP, type LookupFunction } from 'node:net'
import { inRanges } from '@paylog/runtime/http/networks'
import { Agent, buildConnector, type Dispatcher } from 'undici'

/** Idle connections are closed after this: a firewall on the way may have dropped them silently. */
const maxIdleMs = 60_000

/** Resolves a host name to all its addresses. */
export type Resolver = (hostname: string) => Promise<readonly LookupAddress[]>

/** Resolves names like `net.connect`. */
const systemResolver: Resolver = (hostname) => lookup(hostname, { all: true, hints: ADDRCONFIG })

export type EndpointAgent = {
  /** The connection pool for attempts with this timeout. Connections to an origin are reused. */
  connections(timeoutMs: number): Dispatcher
  destroy(): Promise<void>
}

/**
 * Keeps connections open between requests. The workers' concurrency limits their number: a limit per host would let two
 * endpoints on one host delay each other. Each timeout has its own pool, so that no half-open connection outlives its
 * attempt. Proxy variables are ignored.
 */
export function createEndpointAgent(
  allowedPrivateRanges: readonly string[],
  resolver: Resolver = systemResolver,
): EndpointAgent {
  const isAllowed = createAddressRule(allowedPrivateRanges)
  const resolve = deduplicateLookups(resolver)
  const agents = new Map<number, Agent>()
  const openAgent = (timeoutMs: number) => {
    const connect = guardedConnector({ isAllowed, resolve, timeoutMs })
    const agent = new Agent({ connect, pipelining: 1, allowH2: false, keepAliveMaxTimeout: maxIdleMs })
    agents.set(timeoutMs, agent)
    return agent
  }
  return {
    connections: (timeoutMs) => agents.get(timeoutMs) ?? openAgent(timeoutMs),
    async destroy() {
      await Promise.all([...agents.values()].map((agent) => agent.destroy()))
    },
  }
}

/** Everything but the public internet. IPv4-mapped IPv6 addresses are checked by their IPv4 address. */
const forbiddenRanges = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
  '::/96',
  '::ffff:0:0:0/96',
  '64:ff9b::/96',
  '64:ff9b:1::/48',
  '100::/64',
  '2001::/23',
  '2001:db8::/32',
  '2002::/16',
  '3fff::/20',
  '5f00::/16',
  'fc00::/7',
  'fe80::/10',
  'fec0::/10',
  'ff00::/8',
]

/** A host resolves only to addresses that are not allowed. */
export class ForbiddenAddressError extends Error {
  override readonly name = 'ForbiddenAddressError'
  readonly code = 'FORBIDDEN_ADDRESS'
}

/** @param allowedRanges private ranges that are allowed nevertheless */
export function createAddressRule(allowedRanges: readonly string[]): (address: string) => boolean {
  const isAllowed = inRanges(allowedRanges)
  const isForbidden = inRanges(forbiddenRanges)
  return (address) => {
    // A zone (`fe80::1%eth0`) names the interface and does not belong to the address.
    const [bare = ''] = address.split('%')
    return isIP(bare) !== 0 && (isAllowed(bare) || !isForbidden(bare))
  }
}

/**
 * An undici connector that connects only to allowed addresses. It checks exactly the addresses that it connects to, so
 * changing the DNS record between check and connection does not help. undici does not resolve IP literals: they are
 * checked first. HTTP/2 is off: one broken connection would fail all deliveries on it.
 * @param options.timeoutMs for DNS, connection and TLS together
 */
function guardedConnector(options: {
  isAllowed: (address: string) => boolean
  resolve: Resolver
  timeoutMs: number
}): buildConnector.connector {
  const { isAllowed, resolve, timeoutMs } = options
  // Verify certificates even if NODE_TLS_REJECT_UNAUTHORIZED disables it.
  const tls = { rejectUnauthorized: true, allowH2: false }
  const connect = buildConnector({ ...tls, timeout: timeoutMs, lookup: guardedLookup(isAllowed, resolve) })
  return (target, callback) => {
    const host = target.hostname.replace(/^\[|\]$/g, '')
    if (isIP(host) !== 0 && !isAllowed(host)) callback(new ForbiddenAddressError('The address is not allowed'), null)
    else connect(target, callback)
  }
}

/**
 * Shares concurrent lookups of the same name. System lookups use a small thread pool: without this, one name whose DNS
 * servers do not respond would take all threads and block every endpoint.
 */
function deduplicateLookups(resolve: Resolver): Resolver {
  const pending = new Map<string, ReturnType<Resolver>>()
  return (hostname) => {
    const lookup = pending.get(hostname) ?? resolve(hostname).finally(() => pending.delete(hostname))
    pending.set(hostname, lookup)
    return lookup
  }
}

function guardedLookup(isAllowed: (address: string) => boolean, resolve: Resolver): LookupFunction {
  return (hostname, { all }, callback) => {
    const onResolved = (addresses: readonly LookupAddress[]) => {
      const usable = addresses.filter(({ address }) => isAllowed(address))
      const [first] = usable
      if (first === undefined) callback(new ForbiddenAddressError('No address of the host is allowed'), '')
      else if (all === true) callback(null, usable)
      else callback(null, first.address, first.family)
    }
    resolve(hostname).then(onResolved, (error: NodeJS.ErrnoException) => callback(error, ''))
  }
}
