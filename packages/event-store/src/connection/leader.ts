// Finds the node of the event store that leads. All connections of a store share one watch, so they learn of an election together.

import { setTimeout as sleep } from 'node:timers/promises'
import type { EventStoreDBClient } from '@eventstore/db-client'
import gossipGrpc, { type GossipClient } from '@eventstore/db-client/generated/gossip_grpc_pb.js'
import gossip, { type ClusterInfo } from '@eventstore/db-client/generated/gossip_pb.js'
import shared from '@eventstore/db-client/generated/shared_pb.js'
import { Metadata } from '@grpc/grpc-js'
import { anySignal } from '@paylog/runtime/anySignal'
import { clientMethod, openClient } from './client.ts'
import type { ConnectionString, Endpoint } from './connectionString.ts'
import { withTimeout } from './errors.ts'
import type { Outages, StoreLog } from './outages.ts'

export type Leader = {
  readonly endpoint: Endpoint
  /** Aborts when this node leads no longer. What it was asked has an unknown outcome then. */
  readonly ended: AbortSignal
}

export type LeaderWatch = {
  /** The node that leads as far as is known now. */
  known(): Leader | undefined
  /**
   * The node that leads, as soon as one is known.
   * @throws after `waitMs` the error of a node if none responds, otherwise ResponseTimeoutError; the reason of closing
   */
  leader(waitMs: number): Promise<Leader>
  /** A call to the leader failed or got no response: there may be an election, so the watch looks more often for a while. */
  suspect(): void
}

/** How long a node may take to respond, unless the connection string has another gossipTimeout. */
const defaultGossipTimeoutMs = 1_000
/** How often the nodes are queried while there is no leader, unless the connection string has another discoveryInterval. */
const defaultHurryMs = 100
const steadyMs = 500
const suspicionMs = 15_000
/** When a majority has said who leads, the others are awaited for this long. */
const othersMs = 250

/** @param options `closing` ends the watch; `outages` are over when a leader was elected */
export function watchLeader(
  address: ConnectionString,
  options: { readonly log: StoreLog | undefined; readonly outages: Outages; readonly closing: AbortSignal },
): LeaderWatch {
  if (address.isCluster) return watchCluster(address, options)
  const leader = { endpoint: address.hosts[0] ?? '', ended: new AbortController().signal }
  const whileOpen = async () => {
    options.closing.throwIfAborted()
    return leader
  }
  return { known: () => leader, leader: whileOpen, suspect: () => {} }
}

function watchCluster(address: ConnectionString, options: Parameters<typeof watchLeader>[1]): LeaderWatch {
  const { closing } = options
  const hurryMs = Number(address.options.get('discoveryinterval') ?? defaultHurryMs)
  const nodes = createNodes(address, closing)
  const leadership = createLeadership(options)
  let suspectedUntil = 0
  let hurry = new AbortController()
  let isWatching = false

  async function watch(): Promise<void> {
    while (!closing.aborted) {
      leadership.count(await nodes.vote(leadership.current()?.endpoint))
      const isUnsure = leadership.current() === undefined || performance.now() < suspectedUntil
      hurry = new AbortController()
      const signal = anySignal(closing, hurry.signal)
      await sleep(isUnsure ? hurryMs : steadyMs, undefined, { signal }).catch(() => {})
    }
  }

  return {
    known: leadership.current,
    async leader(waitMs) {
      closing.throwIfAborted()
      if (!isWatching) void watch()
      isWatching = true
      const election = () => withTimeout(leadership.next(), waitMs, 'The election of a leader', closing)
      return leadership.current() ?? (await election().catch((error) => Promise.reject(nodes.unreachable() ?? error)))
    },
    suspect() {
      const isCalm = performance.now() > suspectedUntil
      suspectedUntil = performance.now() + suspicionMs
      if (isCalm) hurry.abort()
    },
  }
}

type Votes = {
  readonly nodes: number
  /** How many nodes say that a node leads; undefined: that none does. */
  readonly byLeader: ReadonlyMap<Endpoint | undefined, number>
  /** Whether the present leader itself says that it leads no longer, as it does without a majority. */
  readonly hasLeft: boolean
}

const majorityOf = (count: number) => Math.floor(count / 2) + 1

/** Queries the gossip of the nodes: those of the connection string first, then the members that they name. */
function createNodes(address: ConnectionString, closing: AbortSignal) {
  const timeoutMs = Number(address.options.get('gossiptimeout') ?? 0) * 1_000 || defaultGossipTimeoutMs
  const clients = new Map<Endpoint, EventStoreDBClient>()
  let members: readonly Endpoint[] = address.hosts
  let unreachable: unknown

  const clientOf = (endpoint: Endpoint) => {
    const client = clients.get(endpoint) ?? openClient(address, endpoint)
    clients.set(endpoint, client)
    return client
  }
  const close = (keep: readonly Endpoint[]) => {
    for (const [endpoint, client] of clients) {
      if (keep.includes(endpoint)) continue
      clients.delete(endpoint)
      void Promise.resolve(clientMethod(client, 'getChannel')()).then((channel) => channel.close())
    }
  }
  closing.addEventListener('abort', () => close([]))

  return {
    /** The error of a node, if none responded the last time. */
    unreachable: () => unreachable,
    /** @param present the leader as far as is known */
    async vote(present: Endpoint | undefined): Promise<Votes> {
      const queried = members
      const byLeader = new Map<Endpoint | undefined, number>()
      const named = new Set<Endpoint>()
      const failures: unknown[] = []
      const { promise, resolve } = Promise.withResolvers<void>()
      let [open, responses, hasLeft] = [queried.length, 0, false]
      let others: NodeJS.Timeout | undefined
      for (const endpoint of queried) {
        const count = (info: ClusterInfo) => {
          for (const member of info.getMembersList()) named.add(endpointOf(member.getHttpEndPoint()))
          const leader = leaderIn(info, present)
          if (endpoint === present && leader !== present) hasLeft = true
          byLeader.set(leader, (byLeader.get(leader) ?? 0) + 1)
          if ((byLeader.get(leader) ?? 0) >= majorityOf(queried.length)) resolve()
          else if (++responses >= majorityOf(queried.length)) others ??= setTimeout(resolve, othersMs)
        }
        const query = async () => count(await readGossip(clientOf(endpoint), timeoutMs))
        void query()
          .catch((error: unknown) => failures.push(error))
          .finally(() => --open === 0 && resolve())
      }
      await promise
      unreachable = byLeader.size > 0 || closing.aborted ? undefined : failures[0]
      clearTimeout(others)
      // Names may have other addresses by now, so those of the string are queried again when no member responds.
      members = named.size > 0 ? [...named] : [...new Set([...address.hosts, ...members])]
      if (!closing.aborted) close(members)
      return { nodes: queried.length, byLeader, hasLeft }
    },
  }
}

const endpointOf = (place?: { getAddress(): string; getPort(): number }): Endpoint =>
  `${place?.getAddress()}:${place?.getPort()}`

/** A node that was stopped calls itself the leader for a moment when it continues, so a node may name two: the present one counts. */
function leaderIn(info: ClusterInfo, present: Endpoint | undefined): Endpoint | undefined {
  const { LEADER } = gossip.MemberInfo.VNodeState
  const leaders = info.getMembersList().filter((member) => member.getIsAlive() && member.getState() === LEADER)
  const named = leaders.map((leader) => endpointOf(leader.getHttpEndPoint()))
  return named.find((leader) => leader === present) ?? named[0]
}

/** The client closes its connection when the node is unavailable, and opens another one for the next query. */
function readGossip(client: EventStoreDBClient, timeoutMs: number): Promise<ClusterInfo> {
  return clientMethod(client, 'execute')(
    gossipGrpc.GossipClient,
    'gossip',
    (stub: GossipClient) =>
      new Promise<ClusterInfo>((resolve, reject) => {
        const deadline = Date.now() + timeoutMs
        stub.read(new shared.Empty(), new Metadata(), { deadline }, (error, info) =>
          error ? reject(error) : resolve(info),
        )
      }),
  )
}

/** Who leads, as the votes say. */
function createLeadership({ log, outages }: Pick<Parameters<typeof watchLeader>[1], 'log' | 'outages'>) {
  let current: (Leader & { readonly term: AbortController }) | undefined
  let next = Promise.withResolvers<Leader>()
  let before: Endpoint | undefined
  /** When most of the nodes last named the present or former leader. */
  let confirmedAt = performance.now()

  function end(): void {
    if (current === undefined) return
    before = current.endpoint
    current.term.abort(new Error(`${current.endpoint} leads the event store no longer`))
    current = undefined
  }

  function begin(leader: Endpoint): void {
    end()
    const term = new AbortController()
    current = { endpoint: leader, term, ended: term.signal }
    next.resolve(current)
    next = Promise.withResolvers()
    const failed_calls = outages.end()
    if (before === undefined || (before === leader && failed_calls === 0)) return
    const seconds_without = Math.round(performance.now() - confirmedAt) / 1_000
    log?.warn({ leader, before, seconds_without, failed_calls }, 'the event store has elected its leader')
  }

  return {
    current: (): Leader | undefined => current,
    next: () => next.promise,
    count({ nodes, byLeader, hasLeft }: Votes): void {
      const votesFor = (leader: Endpoint | undefined) => byLeader.get(leader) ?? 0
      const named = [...byLeader.keys()].filter((leader) => leader !== undefined)
      const [favourite] = named.sort((a, b) => votesFor(b) - votesFor(a))
      // A node that was stopped may still call itself the leader when it continues.
      const isBetter =
        favourite !== undefined && (current === undefined || votesFor(favourite) > votesFor(current.endpoint))
      if (isBetter) begin(favourite)
      else if (hasLeft || votesFor(undefined) >= majorityOf(nodes)) end()
      if (current !== undefined && votesFor(current.endpoint) >= majorityOf(nodes)) confirmedAt = performance.now()
    },
  }
}
