// A campaign: starts the system, lets clients use it, breaks it in rounds, and judges at every quiet point what is there.
import { setTimeout as pause } from 'node:timers/promises'
import { judgeEnd } from './end.ts'
import { canHappen, type FaultKind } from './faults/kinds.ts'
import { planRound, type Round } from './faults/round.ts'
import { judge } from './judge/judge.ts'
import { judgeRound, type RoundLimits } from './judge/judgeOutages.ts'
import type { Observations, Outage, Unavailable, Violation } from './judge/observations.ts'
import { observe } from './judge/observe.ts'
import { type Load, prepareLoad } from './load/load.ts'
import { outageOf, unavailableIn } from './outage.ts'
import { awaitRecovery, type Recovery } from './recovery.ts'
import type { EventStoreOptions } from './system/nodes.ts'
import type { AppName } from './system/parts.ts'
import { followLogs, type ReadLogs } from './system/processLogs.ts'
import { type CampaignSystem, startCampaignSystem } from './system/system.ts'

export type CampaignOptions = RoundLimits & {
  readonly seed: number
  readonly minutes: number
  /** It ends after so many, if not by time. */
  readonly faults: number
  readonly kinds: readonly FaultKind[]
  /** Runs only this round. */
  readonly round: number | undefined
  /** Another checkout, for upgrades. */
  readonly nextRoot: string | undefined
  /** `edge` and `redis`: as if they were not installed. */
  readonly without: readonly string[]
  /** New payments a second. */
  readonly load: number
  /** The system must work again so long after the last fault, and be right so long after the last request. */
  readonly limitMs: number
  /** A directory for the logs of all processes. */
  readonly logs: string | undefined
  /** Another event store than the embedded one. */
  readonly eventStore: EventStoreOptions | undefined
}

/** A round that is over. */
export type PastRound = {
  readonly number: number
  readonly faults: readonly { readonly kind: FaultKind; readonly story: string }[]
  readonly recovery: Recovery
  readonly unavailable: readonly Unavailable[]
  readonly outage: Outage | undefined
}

export type CampaignResult = {
  readonly rounds: readonly PastRound[]
  readonly violations: readonly Violation[]
  readonly observations: Observations
  /** How often each process ended by itself. */
  readonly ownEnds: ReadonlyMap<string, number>
  readonly quietPoints: number
  /** What was not tried on this machine, and what it takes. */
  readonly missing: readonly string[]
}

export type CampaignProgress = {
  /** A line that stays. */
  print(line: string): void
  /** What happens now. */
  now(text: string): void
}

/** A round that takes longer waits for something that the campaign itself forgot. */
const longestRoundMs = 10 * 60_000
/** How long a campaign waits for a system that missed the limit. */
const patienceMs = 120_000
/** Without a webhook or request for this long, the system is quiet. */
const quietMs = 2_000
const judgePauseMs = 1_000
const betweenQuietPointsMs = 60_000
/** Printed at once; the report has more. */
const storiesAtOnce = 5
const observeTimeoutMs = 60_000
/** At the end each payment is read by itself: tens of thousands after some hours. */
const observeWholeTimeoutMs = 20 * 60_000

export async function runCampaign(
  stack: AsyncDisposableStack,
  options: CampaignOptions,
  progress: CampaignProgress,
): Promise<CampaignResult> {
  const load = await prepareLoad(stack, options)
  progress.now('starting the system')
  const system = await startCampaignSystem(stack, { ...options, env: load.env })
  for (const part of system.missing) progress.print(`NOT TRIED: ${part}`)
  if (!options.kinds.some((kind) => canHappen(system, kind))) throw new Error('none of these faults can be done here')
  load.start(system.urls)
  const readLogs = followLogs(system.logs)
  const startedAt = performance.now()
  const rounds: PastRound[] = []
  const violations: Violation[] = []
  const faults = () => rounds.reduce((sum, past) => sum + past.faults.length, 0)
  const isOver = () => performance.now() - startedAt > options.minutes * 60_000 || faults() >= options.faults
  let quietPoints = 0
  let observations: Observations | undefined

  for (let judgedAt = performance.now(), number = options.round ?? 1; ; number++) {
    const round = planRound(system, { ...options, number })
    progress.now(`round ${number}: ${storiesOf(round)}`)
    const done = await runRound(round, { system, load, readLogs, options })
    rounds.push(done.past)
    violations.push(...done.violations)
    progress.print(`${number}. ${storiesOf(round)}: ${resultOf(done.past)}`)
    for (const violation of done.violations.slice(0, storiesAtOnce)) progress.print(`  ${textOf(violation)}`)
    const isLast = isOver() || options.round !== undefined || violations.some(({ rule }) => rule === 'never recovered')
    if (!isLast && performance.now() - judgedAt < betweenQuietPointsMs) continue
    progress.now('waiting until the system is quiet')
    // A system that is down for good would keep its clients for ever.
    await Promise.race([load.pause(), pause(patienceMs, undefined, { ref: false })])
    const since = { earlier: observations, isWhole: isLast }
    const judged = await judgeQuiet(system, load, since, options.limitMs)
    quietPoints++
    observations = judged.observations
    const known = new Set(violations.map(textOf))
    const fresh = judged.violations.filter((violation) => !known.has(textOf(violation)))
    if (isLast) fresh.push(...(await judgeEnd(stack, system)))
    violations.push(...fresh)
    for (const violation of fresh.slice(0, storiesAtOnce)) progress.print(`  ${textOf(violation)}`)
    progress.print(
      `quiet: ${faults()} faults, ${judged.observations.log.length} events, ${load.received()} webhooks, ` +
        `right after ${seconds(judged.ms)}, ${violations.length} violations so far`,
    )
    if (isLast) break
    load.resume()
    judgedAt = performance.now()
  }
  const all = [...system.processes(), ...(system.cluster?.all ?? []).map(({ process }) => process)]
  const ownEnds = new Map(all.map((each) => [each.name, each.ownEnds()]))
  return { rounds, violations, observations, ownEnds, quietPoints, missing: system.missing }
}

type RoundContext = {
  readonly system: CampaignSystem
  readonly load: Load
  readonly readLogs: ReadLogs
  readonly options: CampaignOptions
}

/** Runs a round, waits until everything works again, and judges what clients and logs said meanwhile. */
async function runRound(round: Round, { system, load, readLogs, options }: RoundContext) {
  const violations: Violation[] = []
  const violate = (rule: string, story: string) => void violations.push({ rule, story })
  load.takeReplies()
  // Lines from between the rounds are not about this one, but an alarm is one at any time.
  const alarmsBefore = alarmsIn(await readLogs())
  // A process that does not start any more is the system's fault, not the campaign's.
  const hangs = pause(longestRoundMs, undefined, { ref: false }).then(() => {
    throw new Error(`a round did not end: ${storiesOf(round)}`)
  })
  const notRestarted = (error: Error) => violate('not restarted', error.message)
  await Promise.race([round.run(), hangs]).catch(notRestarted)
  const recovery = await awaitRecovery(system, load, options.limitMs)
  if (recovery.missing !== '') {
    violate('not recovered', `${seconds(options.limitMs)} after ${storiesOf(round)}: ${recovery.missing}`)
    const { missing } = await awaitRecovery(system, load, patienceMs)
    if (missing !== '') violate('never recovered', missing)
  }
  // Otherwise the next fault would hit a cluster that has lost a node already.
  await system.cluster?.untilWhole().catch(notRestarted)
  const [replies, lines] = [load.takeReplies(), await readLogs()]
  const unavailable = unavailableIn(replies)
  const ofApps = new Map([...lines].filter(([name]) => system.apps.has(name as AppName)))
  const outage = outageOf(round.faults, system.cluster, replies, ofApps)
  const alarms = [...alarmsBefore, ...alarmsIn(lines)]
  violations.push(...judgeRound({ story: storiesOf(round), unavailable, alarms, outage }, options))
  const { number, faults } = round
  return { past: { number, faults, recovery, unavailable, outage } satisfies PastRound, violations }
}

/** What an operator takes for the loss of the log. */
const alarmsIn = (lines: ReadonlyMap<string, readonly string[]>) =>
  [...lines].flatMap(([name, all]) =>
    all.filter((line) => /was cut, restored or replaced/.test(line)).map((line) => `${name}: ${line.slice(0, 500)}`),
  )

function resultOf({ recovery, outage, unavailable }: PastRound): string {
  const { leader_ms = null, write_ms = null } = outage ?? {}
  return [
    ...(leader_ms === null ? [] : [`leader after ${seconds(leader_ms)}`]),
    ...(write_ms === null ? [] : [`write accepted after another ${seconds(write_ms)}`]),
    ...(unavailable.length === 0 ? [] : [`${unavailable.length} times 503`]),
    `all worked after ${seconds(recovery.ms)}, ${recovery.last} last`,
  ].join(', ')
}

export const storiesOf = ({ faults }: Pick<Round | PastRound, 'faults'>) =>
  faults.map(({ story }) => story).join(', and ')

const textOf = ({ rule, story }: Violation) => `${rule}: ${story}`
const seconds = (ms: number) => `${(ms / 1_000).toFixed(1)} s`

type Since = { readonly earlier: Observations | undefined; readonly isWhole: boolean }

/**
 * Judges again and again until everything is right, or the limit is over. The last look of a campaign also reads each
 * payment by itself. That takes minutes, so it is not repeated, and it begins when the shorter one finds everything right.
 */
async function judgeQuiet(system: CampaignSystem, load: Load, since: Since, limitMs: number) {
  const startedAt = performance.now()
  const deadline = startedAt + limitMs
  for (let isWhole = false; ; ) {
    await waitUntilQuiet(load, deadline)
    const timeoutMs = isWhole ? observeWholeTimeoutMs : observeTimeoutMs
    const signal = AbortSignal.timeout(timeoutMs)
    const observations = await observe(system.urls, load.seen(), signal, { ...since, isWhole })
    const violations = judge(observations)
    const ms = performance.now() - startedAt
    const isDone = violations.length === 0 || performance.now() > deadline
    if (isDone && isWhole === since.isWhole) return { observations, violations, ms }
    if (isDone) isWhole = true
    else await pause(judgePauseMs)
  }
}

async function waitUntilQuiet(load: Load, deadline: number): Promise<void> {
  let [count, quietSince] = [load.received(), performance.now()]
  while (performance.now() < deadline && performance.now() - quietSince < quietMs) {
    await pause(100)
    if (load.received() === count && load.busy() === 0) continue
    count = load.received()
    quietSince = performance.now()
  }
}
