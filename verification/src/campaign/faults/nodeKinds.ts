// The kinds of faults of the nodes of a cluster. Who leads is looked up when the fault begins.
import { setTimeout as pause } from 'node:timers/promises'
import type { Random } from '../random.ts'
import type { EventStoreNode, EventStoreNodes } from '../system/nodes.ts'
import { type Plan, type Strike, seconds } from './fault.ts'

/** Chosen as often as all other kinds together. */
export const nodeKinds = {
  'leader-kill': { share: 18, plan: onNodes(killLeader) },
  'leader-stop': { share: 18, plan: onNodes(stopLeader) },
  'leader-end': { share: 10, plan: onNodes(endLeader) },
  'leader-resign': { share: 12, plan: onNodes(resignLeader) },
  'leader-twice': { share: 8, plan: onNodes(killTwoLeaders) },
  'follower-kill': { share: 10, plan: onNodes(killFollower) },
  'follower-stop': { share: 8, plan: onNodes(stopFollower) },
  'no-majority': { share: 14, plan: onNodes(takeMajority) },
  'all-nodes': { share: 6, plan: onNodes(killAll) },
} as const satisfies Readonly<Record<string, { readonly share: number; readonly plan: Plan }>>

/** A majority of fewer nodes is all of them. */
export const leastNodes = 3
const pollMs = 20
/** How long a fault waits for an election that it should cause. */
const electionMs = 15_000

type Blow = {
  readonly nodes: EventStoreNodes
  readonly leader: EventStoreNode
  readonly followers: readonly EventStoreNode[]
  readonly strike: Strike
  addToStory(more: string): void
}
/** Plans with random numbers. @returns the story, and what happens */
type NodeFault = (random: Random) => { readonly story: string; readonly happen: (blow: Blow) => Promise<void> }

/** @returns a plan for systems with a cluster */
function onNodes(fault: NodeFault): Plan {
  return ({ cluster }, random) => {
    if (cluster === undefined || cluster.all.length < leastNodes) return undefined
    const { story, happen } = fault(random)
    const strike: Strike = { startedAt: 0, hit: 0, before: undefined }
    let whom = ''
    return {
      get story() {
        return story + whom
      },
      touches: ['event-store'],
      strike,
      async happen() {
        const leader = await untilLed(cluster)
        strike.startedAt = performance.now()
        strike.hit = strike.startedAt
        strike.before = cluster.leading()
        const followers = cluster.all.filter((node) => node !== leader)
        const addToStory = (more: string) => {
          whom += more
        }
        await happen({ nodes: cluster, leader, followers, strike, addToStory })
      },
    }
  }
}

async function untilLed(nodes: EventStoreNodes): Promise<EventStoreNode> {
  for (const deadline = performance.now() + electionMs; performance.now() < deadline; await pause(pollMs)) {
    const leader = nodes.leader()
    if (leader !== undefined) return leader
  }
  throw new Error('the event store has no leader')
}

/** Waits for an election after the last hit, or for as long as one may take. @returns its winner */
async function untilElected({ nodes, strike }: Blow): Promise<EventStoreNode | undefined> {
  const deadline = performance.now() + electionMs
  const elected = () => nodes.electedAfter(strike.hit, strike.before)
  while (elected() === undefined && performance.now() < deadline) await pause(pollMs)
  return elected()?.leader
}

const nameOf = ({ process }: EventStoreNode) => process.name

/** Others notice it after about five seconds. */
const stoppedMs = [2_000, 10_000] as const
/** For how long a killed node stays away. */
const awayMsOf = (random: Random) => (random.isIn(0.6) ? 0 : random.between(500, 6_000))
const away = (ms: number) => (ms === 0 ? '' : `, started again after ${seconds(ms)}`)

function killLeader(random: Random): ReturnType<NodeFault> {
  const awayMs = awayMsOf(random)
  return {
    story: `SIGKILL the leader${away(awayMs)}`,
    async happen(blow) {
      blow.addToStory(`: ${nameOf(blow.leader)}`)
      blow.leader.process.kill('SIGKILL', awayMs)
      await pause(awayMs)
    },
  }
}

function stopLeader(random: Random): ReturnType<NodeFault> {
  const ms = random.between(...stoppedMs)
  return {
    story: `SIGSTOP the leader for ${seconds(ms)}`,
    happen: ({ leader, addToStory }) => stop([leader], ms, addToStory),
  }
}

async function stop(victims: readonly EventStoreNode[], ms: number, addToStory: Blow['addToStory']): Promise<void> {
  addToStory(`: ${victims.map(nameOf).join(' and ')}`)
  for (const { process } of victims) process.freeze()
  await pause(ms)
  for (const { process } of victims) process.thaw()
}

function endLeader(random: Random): ReturnType<NodeFault> {
  const awayMs = awayMsOf(random)
  return {
    story: `SIGTERM to the leader${away(awayMs)}`,
    async happen(blow) {
      blow.addToStory(`: ${nameOf(blow.leader)}`)
      blow.leader.process.kill('SIGTERM', awayMs)
      // It may lead until it has shut down.
      await untilElected(blow)
    },
  }
}

function resignLeader(): ReturnType<NodeFault> {
  return {
    story: 'the leader resigns',
    async happen(blow) {
      blow.addToStory(`: ${nameOf(blow.leader)}`)
      await blow.leader.calls.resign()
      await untilElected(blow)
    },
  }
}

function killTwoLeaders(): ReturnType<NodeFault> {
  return {
    story: 'SIGKILL the leader, and the next one when it is elected',
    async happen(blow) {
      blow.addToStory(`: ${nameOf(blow.leader)}`)
      blow.leader.process.kill()
      const next = await untilElected(blow)
      if (next === undefined) return
      blow.addToStory(`, then ${nameOf(next)}`)
      Object.assign(blow.strike, { hit: performance.now(), before: blow.nodes.leading() })
      next.process.kill()
      await untilElected(blow)
    },
  }
}

function killFollower(random: Random): ReturnType<NodeFault> {
  const [first, awayMs] = [random.isIn(0.5), awayMsOf(random)]
  return {
    story: `SIGKILL a follower${away(awayMs)}`,
    async happen({ followers, addToStory }) {
      const victim = followers.at(first ? 0 : -1)
      if (victim === undefined) return
      addToStory(`: ${nameOf(victim)}`)
      victim.process.kill('SIGKILL', awayMs)
      await pause(awayMs)
    },
  }
}

function stopFollower(random: Random): ReturnType<NodeFault> {
  const [first, ms] = [random.isIn(0.5), random.between(...stoppedMs)]
  return {
    story: `SIGSTOP a follower for ${seconds(ms)}`,
    happen: ({ followers, addToStory }) => stop(followers.slice(first ? 0 : -1).slice(0, 1), ms, addToStory),
  }
}

function takeMajority(random: Random): ReturnType<NodeFault> {
  const how = random.pick(['SIGKILL', 'SIGSTOP'] as const)
  const withLeader = random.isIn(0.5)
  const ms = random.between(...stoppedMs)
  return {
    story: `${how} ${withLeader ? 'the leader and all followers but one' : 'all followers'} for ${seconds(ms)}`,
    async happen({ leader, followers, strike, addToStory }) {
      const victims = withLeader ? [leader, ...followers.slice(1)] : followers
      if (how === 'SIGSTOP') await stop(victims, ms, addToStory)
      else {
        addToStory(`: ${victims.map(nameOf).join(' and ')}`)
        for (const { process } of victims) process.kill('SIGKILL', ms)
        await pause(ms)
      }
      Object.assign(strike, { hit: performance.now(), before: undefined })
    },
  }
}

function killAll(random: Random): ReturnType<NodeFault> {
  const awayMs = awayMsOf(random)
  return {
    story: `SIGKILL all nodes${away(awayMs)}`,
    async happen({ nodes, strike }) {
      for (const { process } of nodes.all) process.kill('SIGKILL', awayMs)
      await pause(awayMs)
      strike.hit = performance.now()
    },
  }
}
