// Elections among stand-in nodes: a term for each leader, one vote per term, and a lease that a majority renews.
//
// Nodes exchange views. Only a leader itself is a source for who leads. A node asks for votes when a majority has lost
// the leader, so one slow node does not depose a leader that the others follow.

export type Timing = {
  /** Between two exchanges with each peer. */
  readonly pollMs: number
  /** A peer that says nothing for this long counts as dead. One that refuses connections is dead two polls later. */
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
  /** In which term it resigned, or 0: the others go before it. */
  readonly resignedTerm: number
  /** Of a leader: a majority followed it a moment ago. */
  readonly hasMajority: boolean
}

/** Silence and missing leaders are counted in polls: a process that was stopped itself saw no silence. */
type Peer = { readonly port: number; view: View | undefined; silentMs: number; confirmedAt: number }

export type Member = { readonly port: number; readonly view: View | undefined; readonly isAlive: boolean }

export type Election = {
  own: Omit<View, 'hasMajority'>
  readonly peers: readonly Peer[]
  readonly timing: Timing
  leaderlessMs: number
  unconfirmedMs: number
}

/** The lease is shorter than any peer needs to elect another leader. */
const leaseInPolls = 2.5
/** After a candidate stood. */
const votingInPolls = 5

export function createElection(port: number, peers: readonly number[], timing: Timing): Election {
  return {
    own: {
      port,
      instanceId: crypto.randomUUID(),
      term: 0,
      leader: null,
      vote: { term: 0, for: port },
      resignedTerm: 0,
    },
    peers: peers.map((peer) => ({ port: peer, view: undefined, silentMs: 0, confirmedAt: Number.NEGATIVE_INFINITY })),
    timing,
    leaderlessMs: 0,
    unconfirmedMs: 0,
  }
}

export const isLeader = ({ own }: Election): boolean => own.leader === own.port

/** What peers and clients get to know. */
export const viewOf = (election: Election): View => ({ ...election.own, hasMajority: holdsLease(election) })

/** Whether the leader, this node or another, acknowledges appends: a majority followed it a moment ago. */
export function leaderHasMajority(election: Election): boolean {
  const leader = election.peers.find(({ port }) => port === election.own.leader)
  if (leader === undefined) return holdsLease(election)
  return leader.silentMs < leaseInPolls * election.timing.pollMs && leader.view?.hasMajority === true
}

function holdsLease(election: Election): boolean {
  const since = performance.now() - leaseInPolls * election.timing.pollMs
  const confirmed = election.peers.filter(({ confirmedAt }) => confirmedAt > since)
  return isLeader(election) && isMajority(1 + confirmed.length, election.peers)
}

export function members(election: Election): Member[] {
  const { own, peers, timing } = election
  const others = peers.map((peer) => ({ port: peer.port, view: peer.view, isAlive: isAlive(peer, timing) }))
  return [{ port: own.port, view: viewOf(election), isAlive: true }, ...others].sort((a, b) => a.port - b.port)
}

/** Gives up leading; the next leader is another node. */
export function resign(election: Election): void {
  if (!isLeader(election)) return
  lose(election, 0)
  election.own = { ...election.own, resignedTerm: election.own.term }
}

/** Counts a poll interval, and steps down, loses the leader or asks for votes when it is time. */
export function tick(election: Election): void {
  const { own, peers, timing } = election
  for (const peer of peers) peer.silentMs += timing.pollMs
  if (isLeader(election)) {
    election.unconfirmedMs = holdsLease(election) ? 0 : election.unconfirmedMs + timing.pollMs
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
    election.own = { ...own, term: view.term, leader: view.port }
  } else if (!leads && own.leader === view.port) {
    lose(election, Number.POSITIVE_INFINITY)
    stand(election)
  } else if (isLeader(election) && view.vote.term > own.term) lose(election, 0)
  if (isLeader(election) && view.leader === own.port && view.term === own.term && askedAt !== undefined)
    peer.confirmedAt = askedAt
  if (election.own.leader === null) exchangeVotes(election, view)
}

/** A peer refuses connections. One that stops does so too, but it still sends its view. */
export function observeRefusal(election: Election, port: number): void {
  const peer = election.peers.find((known) => known.port === port)
  if (peer === undefined || peer.silentMs < 2 * election.timing.pollMs) return
  peer.silentMs = Number.POSITIVE_INFINITY
  peer.confirmedAt = Number.NEGATIVE_INFINITY
  if (election.own.leader === port) lose(election, 0)
}

function lose(election: Election, leaderlessMs: number): void {
  election.own = { ...election.own, leader: null }
  election.leaderlessMs = leaderlessMs
}

/** Asks for votes, if a majority has no leader and no other node of it goes first. */
function stand(election: Election): void {
  const { own, peers, timing, leaderlessMs } = election
  const isRecent = ({ silentMs }: Peer) => silentMs < leaseInPolls * timing.pollMs
  const leaderless = peers.flatMap((peer) => (isRecent(peer) && peer.view?.leader === null ? [peer.view] : []))
  const isFirst = leaderless.every((view) => (view.resignedTerm - own.resignedTerm || view.port - own.port) > 0)
  if (leaderlessMs < timing.electionMs || !isFirst || !isMajority(1 + leaderless.length, peers)) return
  const terms = [own, ...leaderless].flatMap(({ term, vote }) => [term, vote.term])
  // The clock, because nodes forget the terms when all of them restart.
  election.own = { ...own, vote: { term: Math.max(Date.now(), ...terms.map((term) => term + 1)), for: own.port } }
  waitForVotes(election)
}

/** Until the next candidate stands, also if it is this node. */
function waitForVotes(election: Election): void {
  election.leaderlessMs = election.timing.electionMs - votingInPolls * election.timing.pollMs
}

/** Votes for a peer that asks for it, and leads after enough votes. */
function exchangeVotes(election: Election, { port, leader, vote }: View): void {
  const { own, peers } = election
  if (leader === null && vote.for === port && vote.term > Math.max(own.term, own.vote.term)) {
    election.own = { ...own, vote }
    waitForVotes(election)
  }
  if (own.vote.for !== own.port || own.vote.term <= own.term) return
  const votes = peers.filter(({ view }) => view?.vote.for === own.port && view.vote.term === own.vote.term)
  if (!isMajority(1 + votes.length, peers)) return
  election.own = { ...own, term: own.vote.term, leader: own.port }
  election.unconfirmedMs = 0
}

const isAlive = ({ view, silentMs }: Peer, { silenceMs }: Timing) => view !== undefined && silentMs < silenceMs

const isMajority = (nodes: number, peers: readonly Peer[]) => nodes > (peers.length + 1) / 2
