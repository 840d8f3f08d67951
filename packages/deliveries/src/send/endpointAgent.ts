// The connections to all endpoints.
import { Agent, type Dispatcher } from 'undici'
import { deduplicateLookups, createAddressRule, guardedConnector, type Resolver, systemResolver } from './dialGuard.ts'

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
