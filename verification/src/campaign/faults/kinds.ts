// The kinds of faults. Each plans one fault from random numbers; the fault itself begins, lasts and is undone by itself.
import { setTimeout as pause } from 'node:timers/promises'
import { createRandom, type Random } from '../random.ts'
import type { Link } from '../system/link.ts'
import type { CampaignSystem } from '../system/system.ts'
import { type Plan, type PlannedFault, pick, seconds } from './fault.ts'
import { nodeKinds } from './nodeKinds.ts'

export type Fault = PlannedFault & { readonly kind: FaultKind }

const clockOffsetMs = 60_000

/** How often each kind is chosen, relative to the others, and its plan; undefined when it cannot be done here. */
const kinds = {
  kill: { share: 30, plan: planKill },
  freeze: { share: 14, plan: planFreeze },
  cut: { share: 11, plan: planCut },
  silence: { share: 12, plan: planSilence },
  slow: { share: 8, plan: planSlow },
  postgres: { share: 6, plan: planPostgresEnd },
  failover: { share: 3, plan: planFailover },
  redis: { share: 5, plan: planEmptyRedis },
  disk: { share: 3, plan: planFullDisk },
  clock: { share: 6, plan: planClock },
  store: { share: 4, plan: planReplacedStore },
  upgrade: { share: 2, plan: planUpgrade },
  ...nodeKinds,
} as const satisfies Readonly<Record<string, { readonly share: number; readonly plan: Plan }>>

export type FaultKind = keyof typeof kinds
export const faultKinds = Object.keys(kinds) as FaultKind[]
/** Those that need no cluster. */
export const usualKinds = faultKinds.filter((kind) => !(kind in nodeKinds))

/** Whether a kind can be done on this machine. */
export function canHappen(system: CampaignSystem, kind: FaultKind): boolean {
  const plan: Plan = kinds[kind].plan
  return plan(system, createRandom(0, kind), { nextRoot: undefined }) !== undefined
}

/** @returns undefined when the chosen kind cannot be done on this machine */
export function planFault(
  system: CampaignSystem,
  random: Random,
  options: { readonly kinds: readonly FaultKind[]; readonly nextRoot: string | undefined },
): Fault | undefined {
  const shares = Object.fromEntries(options.kinds.map((kind) => [kind, kinds[kind].share]))
  const kind = random.weighted(shares) as FaultKind
  const plan: Plan = kinds[kind].plan
  const planned = plan(system, random, options)
  // Not a copy: its story may say more when it is over.
  return planned && Object.assign(planned, { kind })
}

function planKill({ processes }: CampaignSystem, random: Random): PlannedFault {
  const victim = pick(
    processes().filter(({ name }) => name !== 'postgres'),
    random,
  )
  const awayMs = random.isIn(0.7) ? 0 : random.between(500, 6_000)
  return {
    story: `SIGKILL ${victim.name}${awayMs === 0 ? '' : `, started again after ${seconds(awayMs)}`}`,
    touches: [victim.name],
    async happen() {
      victim.kill('SIGKILL', awayMs)
      await pause(awayMs)
    },
  }
}

function planFreeze({ processes }: CampaignSystem, random: Random): PlannedFault {
  const victim = pick(processes(), random)
  const length = random.weighted({ short: 75, long: 21, minute: 4 })
  const ms = { short: [1_000, 5_000], long: [5_000, 20_000], minute: [40_000, 60_000] } as const
  const [least, most] = ms[length]
  const frozenMs = random.between(least, most)
  return {
    story: `SIGSTOP ${victim.name} for ${seconds(frozenMs)}`,
    touches: [victim.name],
    async happen() {
      victim.freeze()
      await pause(frozenMs)
      victim.thaw()
    },
  }
}

function planCut({ links }: CampaignSystem, random: Random): PlannedFault {
  const link = pick(links, random)
  const ms = random.between(200, 15_000)
  return onLink(link, ms, `cut ${link.name} for ${seconds(ms)}`, () => link.cut())
}

function planSilence({ links }: CampaignSystem, random: Random): PlannedFault {
  const link = pick(links, random)
  const ms = random.between(1_000, 30_000)
  const way = random.pick(['both', 'replies'] as const)
  const what = random.pick(['held', 'lost'] as const)
  const whose = way === 'both' ? '' : ', replies only,'
  return onLink(link, ms, `silence on ${link.name}${whose} for ${seconds(ms)}, data ${what}`, () =>
    link.silence(what, way),
  )
}

function planSlow({ links }: CampaignSystem, random: Random): PlannedFault {
  const link = pick(links, random)
  const [ms, delayMs] = [random.between(2_000, 15_000), random.between(20, 400)]
  return onLink(link, ms, `slow ${link.name}, ${delayMs} ms a packet and resets, for ${seconds(ms)}`, () =>
    link.slow(delayMs, random),
  )
}

function onLink(link: Link, ms: number, story: string, begin: () => Promise<void> | void): PlannedFault {
  return {
    story,
    touches: [link.name],
    async happen() {
      await begin()
      await pause(ms)
      await link.restore()
    },
  }
}

function planPostgresEnd({ postgres }: CampaignSystem, random: Random): PlannedFault {
  const how = random.pick(['SIGINT', 'SIGQUIT', 'SIGKILL'] as const)
  const awayMs = random.isIn(0.6) ? 0 : random.between(500, 5_000)
  const names = { SIGINT: 'fast shutdown', SIGQUIT: 'immediate shutdown', SIGKILL: 'SIGKILL' }
  return {
    story: `${names[how]} of postgres, started again after ${seconds(awayMs)}`,
    touches: ['postgres'],
    async happen() {
      postgres.process().kill(how, awayMs)
      await pause(awayMs)
      await postgres.process().untilReady()
    },
  }
}

function planFailover({ postgres }: CampaignSystem): PlannedFault {
  return { story: 'postgres fails over to its standby', touches: ['postgres'], happen: postgres.failOver }
}

function planEmptyRedis({ emptyRedis }: CampaignSystem): PlannedFault | undefined {
  // A Redis that is killed has nothing to empty.
  return emptyRedis && { story: 'FLUSHALL', touches: ['redis'], happen: emptyRedis }
}

function planFullDisk({ disk, postgres }: CampaignSystem, random: Random): PlannedFault | undefined {
  if (disk === undefined) return undefined
  const ms = random.between(1_000, 10_000)
  return {
    story: `disk of postgres full for ${seconds(ms)}`,
    touches: ['postgres'],
    async happen() {
      await disk.fill()
      await pause(ms)
      await disk.free()
      await postgres.process().untilReady()
    },
  }
}

function planClock({ apps }: CampaignSystem, random: Random): PlannedFault {
  const victim = pick([...apps.values()], random)
  const offsetMs = random.pick([-1, 1] as const) * random.between(clockOffsetMs / 6, clockOffsetMs)
  const ms = random.between(3_000, 20_000)
  return {
    story: `clock of ${victim.name} ${seconds(Math.abs(offsetMs))} ${offsetMs > 0 ? 'ahead' : 'behind'} for ${seconds(ms)}`,
    touches: [victim.name],
    async happen() {
      victim.setClock(offsetMs)
      await pause(ms)
      victim.setClock(0)
      // What it has recorded or planned may be that far in the future.
      await pause(Math.max(0, offsetMs))
    },
  }
}

function planReplacedStore({ replaceEventStore }: CampaignSystem): PlannedFault | undefined {
  const story = 'event store replaced by another process'
  return replaceEventStore && { story, touches: ['event-store'], happen: replaceEventStore }
}

function planUpgrade(
  { apps, upgradeTo }: CampaignSystem,
  random: Random,
  { nextRoot }: { readonly nextRoot: string | undefined },
): PlannedFault {
  const betweenMs = random.between(0, 5_000)
  return {
    story: `rolling upgrade to ${nextRoot === undefined ? 'the same build' : 'the next build'}, and back after ${seconds(betweenMs)}`,
    touches: [...apps.keys()],
    async happen() {
      await upgradeTo(nextRoot)
      await pause(betweenMs)
      await upgradeTo()
    },
  }
}
