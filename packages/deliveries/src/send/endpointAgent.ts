// Which addresses may be dialled: a configured URL must not become a way into the operator's own network.
import { ADDRCONFIG, type LookupAddress } from 'node:dns'
import { lookup } from 'node:dns/promises'
import { isIP, type LookupFunction } from 'node:net'
import { inRanges } from '@paylog/runtime/http/networks'
import { Agent, buildConnector, type Dispatcher } from 'undici'

/** Everything that is not the public internet; mapped IPv4 addresses are judged by the address inside. */
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

/** Every address of a host name. */
export type Resolver = (hostname: string) => Promise<readonly LookupAddress[]>

/** The machine's own way, as `net.connect` asks it. */
export const systemResolver: Resolver = (hostname) => lookup(hostname, { all: true, hints: ADDRCONFIG })

/** The address behind a host is none that may be dialled. */
export class ForbiddenAddressError extends Error {
  override readonly name = 'ForbiddenAddressError'
  readonly code = 'FORBIDDEN_ADDRESS'
}

/** @param allowedRanges may be dialled although they are private */
export function createAddressRule(allowedRanges: readonly string[]): (address: string) => boolean {
  const isAllowed = inRanges(allowedRanges)
  const isForbidden = inRanges(forbiddenRanges)
  return (address) => {
    // A zone (`fe80::1%eth0`) says which interface, not which address.
    const [bare = ''] = address.split('%')
    return isIP(bare) !== 0 && (isAllowed(bare) || !isForbidden(bare))
  }
}

/**
 * An undici connector that dials only what the rule allows. The check is made on the addresses that are then dialled,
 * so a name that resolves to something else later gains nothing. undici looks up no IP literals: they are checked first.
 * HTTP/2 is not offered: a connection would carry many deliveries then, and take all of them with it when it breaks.
 * @param options.timeoutMs for name, connection and TLS together
 */
export function guardedConnector(options: {
  isAllowed: (address: string) => boolean
  resolve: Resolver
  timeoutMs: number
}): buildConnector.connector {
  const { isAllowed, resolve, timeoutMs } = options
  // Certificates are checked whatever NODE_TLS_REJECT_UNAUTHORIZED says.
  const tls = { rejectUnauthorized: true, allowH2: false }
  const connect = buildConnector({ ...tls, timeout: timeoutMs, lookup: guardedLookup(isAllowed, resolve) })
  return (target, callback) => {
    const host = target.hostname.replace(/^\[|\]$/g, '')
    if (isIP(host) !== 0 && !isAllowed(host)) callback(new ForbiddenAddressError('The address is not allowed'), null)
    else connect(target, callback)
  }
}

/**
 * A resolver that asks for each name once at a time. The system's lookups share a handful of threads: without this one
 * name whose servers are silent would take them all, and every other endpoint would wait.
 */
export function deduplicateLookups(resolve: Resolver): Resolver {
  const pending = new Map<string, ReturnType<Resolver>>()
  return (hostname) => {
    const answer = pending.get(hostname) ?? resolve(hostname).finally(() => pending.delete(hostname))
    pending.set(hostname, answer)
    return answer
  }
}

function guardedLookup(isAllowed: (address: string) => boolean, resolve: Resolver): LookupFunction {
  return (hostname, { all }, callback) => {
    const answer = (addresses: readonly LookupAddress[]) => {
      const usable = addresses.filter(({ address }) => isAllowed(address))
      const [first] = usable
      if (first === undefined) callback(new ForbiddenAddressError('No address of the host is allowed'), '')
      else if (all === true) callback(null, usable)
      else callback(null, first.address, first.family)
    }
    resolve(hostname).then(answer, (error: NodeJS.ErrnoException) => callback(error, ''))
  }
}

// The connections to all endpoints.

/** An open connection that has been silent for longer is not trusted: something on its way may have forgotten it. */
const longestIdleMs = 60_000

export type EndpointAgent = {
  /** The connections of attempts that end after this time. Those to one origin are used again. */
  connections(timeoutMs: number): Dispatcher
  destroy(): Promise<void>
}

/**
 * Keeps connections open between requests. How many there are is bounded by the workers' concurrency, not here: a limit
 * per host would let two nodes on one host delay each other. No attempt leaves a half-open connection behind for longer
 * than it may take itself, so there is one set of connections for each timeout. Proxies of the environment are not used.
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
    const agent = new Agent({ connect, pipelining: 1, allowH2: false, keepAliveMaxTimeout: longestIdleMs })
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
