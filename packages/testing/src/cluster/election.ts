// Elections among stand-in nodes: a term for each leader, one vote per term, and a lease that a majority renews.
//
// Nodes exchange views. Only a leader itself is a source for who leads. A node asks for votes when a majority has lost
// the leader, so one slow node does not depose a leader that the others follow.

export type Timing = {
  /** Between two exchanges with each peer. */
  readonly pollMs: number
  /** A peer that does not answer for this long counts as dead. One that refuses connections is dead at once. */
  readonly silenceMs: number
  /** From the loss of a leader to the election. */
  readonly electionMs: number
  /** A leader without a majority steps down after this. */
  readonly stepDownMs: number
}

type Vote = { readonly term: number; readonly for: number }

/** What a node says about itself. Nodes are named by their ports. */
export type View = {
  readonly port: number
  readonly instanceId: string
  readonly term: number
  readonly leader: number | null
  readonly vote: Vote
  /** Another node shall lead next. */
  readonly hasResigned: boolean
}

/** Silence and missing leaders are counted in polls: a process that was stopped itself saw no silence. */
type Peer = { readonly port: number; view: View | undefined; silentMs: number; confirmedAt: number }

export type Member = { readonly port: number; readonly view: View | undefined; readonly isAlive: boolean }

export type Election = {
  own: View
  readonly peers: readonly Peer[]
  readonly timing: Timing
  leaderlessMs: number
  unconfirmedMs: number
}

/** The lease is shorter than any peer needs to elect another leader. */
const leaseInPolls = 2.5

export function createElection(port: number, peers: readonly number[], timing: Timing): Election {
  return {
    own: {
      port,
      instanceId: crypto.randomUUID(),
      term: 0,
      leader: null,
      vote: { term: 0, for: port },
      hasResigned: false,
    },
    peers: peers.map((peer) => ({ port: peer, view: undefined, silentMs: 0, confirmedAt: Number.NEGATIVE_INFINITY })),
    timing,
    leaderlessMs: 0,
    unconfirmedMs: 0,
  }
}

export const isLeader = ({ own }: Election): boolean => own.leader === own.port

/** Whether a majority followed this leader a moment ago. Without it, a cluster acknowledges no append. */
export function hasMajority({ peers, timing }: Election): boolean {
  const since = performance.now() - leaseInPolls * timing.pollMs
  return isMajority(1 + peers.filter(({ confirmedAt }) => confirmedAt > since).length, peers)
}

export function members({ own, peers, timing }: Election): Member[] {
  const others = peers.map((peer) => ({ port: peer.port, view: peer.view, isAlive: isAlive(peer, timing) }))
  return [{ port: own.port, view: own, isAlive: true }, ...others].sort((a, b) => a.port - b.port)
}

/** Gives up leading; the next leader is another node. */
export function resign(election: Election): void {
  if (isLeader(election)) election.own = { ...election.own, leader: null, hasResigned: true }
}

/** Counts a poll interval, and steps down, loses the leader or asks for votes when it is time. */
export function tick(election: Election): void {
  const { own, peers, timing } = election
  for (const peer of peers) peer.silentMs += timing.pollMs
  if (isLeader(election)) {
    election.unconfirmedMs = hasMajority(election) ? 0 : election.unconfirmedMs + timing.pollMs
    if (election.unconfirmedMs >= timing.stepDownMs) lose(election, 0)
  } else if (own.leader === null) {
    election.leaderlessMs += timing.pollMs
    stand(election)
  } else if (peers.some((peer) => peer.port === own.leader && !isAlive(peer, timing))) lose(election, 0)
}

/** A peer sent its view. @param askedAt when this node asked for it, if it did */
export function observe(election: Election, view: View, askedAt?: number): void {
  const { own, peers } = election
  const peer = peers.find(({ port }) => port === view.port)
  if (peer === undefined) return
  peer.view = view
  peer.silentMs = 0
  const leads = view.leader === view.port
  if (leads && view.term >= Math.max(own.term, own.vote.term)) {
    election.own = { ...own, term: view.term, leader: view.port, hasResigned: false }
  } else if (!leads && own.leader === view.port) {
    lose(election, Number.POSITIVE_INFINITY)
    stand(election)
  } else if (isLeader(election) && view.vote.term > own.term) lose(election, 0)
  if (isLeader(election) && view.leader === own.port && view.term === own.term && askedAt !== undefined)
    peer.confirmedAt = askedAt
  if (election.own.leader === null) exchangeVotes(election, view)
}

/** A peer refuses connections. */
export function observeDeath(election: Election, port: number): void {
  const peer = election.peers.find((known) => known.port === port)
  if (peer === undefined) return
  peer.silentMs = Number.POSITIVE_INFINITY
  peer.confirmedAt = Number.NEGATIVE_INFINITY
  if (election.own.leader === port) lose(election, 0)
}

function lose(election: Election, leaderlessMs: number): void {
  election.own = { ...election.own, leader: null }
  election.leaderlessMs = leaderlessMs
}

/** Asks for votes, if a majority has no leader and no living node with a lower port can lead. */
function stand(election: Election): void {
  const { own, peers, timing, leaderlessMs } = election
  const leaderless = peers.flatMap((peer) => (isAlive(peer, timing) && peer.view?.leader === null ? [peer.view] : []))
  const isFirst = leaderless.every((view) => view.hasResigned || view.port > own.port)
  if (leaderlessMs < timing.electionMs || own.hasResigned || !isFirst || !isMajority(1 + leaderless.length, peers))
    return
  const terms = [own, ...leaderless].flatMap(({ term, vote }) => [term, vote.term])
  election.own = { ...own, vote: { term: Math.max(...terms) + 1, for: own.port } }
  election.leaderlessMs = 0
}

/** Votes for a peer that asks for it, and leads after enough votes. */
function exchangeVotes(election: Election, { port, leader, vote }: View): void {
  const { own, peers } = election
  if (leader === null && vote.for === port && vote.term > Math.max(own.term, own.vote.term)) {
    election.own = { ...own, vote }
    election.leaderlessMs = 0
  }
  if (own.vote.for !== own.port || own.vote.term <= own.term) return
  const votes = peers.filter(({ view }) => view?.vote.for === own.port && view.vote.term === own.vote.term)
  if (!isMajority(1 + votes.length, peers)) return
  election.own = { ...own, term: own.vote.term, leader: own.port }
  election.unconfirmedMs = 0
}

const isAlive = ({ view, silentMs }: Peer, { silenceMs }: Timing) => view !== undefined && silentMs < silenceMs

const isMajority = (nodes: number, peers: readonly Peer[]) => nodes > (peers.length + 1) / 2
