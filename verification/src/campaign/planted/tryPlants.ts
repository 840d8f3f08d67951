// Runs the system with planted faults under load until the judge reports each of them.
import { setTimeout as pause } from 'node:timers/promises'
import { judge } from '../judge/judge.ts'
import type { Violation } from '../judge/observations.ts'
import { observe } from '../judge/observe.ts'
import { type Load, prepareLoad } from '../load/load.ts'
import { usualLoad } from '../load/settings.ts'
import { type CampaignSystem, startCampaignSystem } from '../system/system.ts'
import { plantEnv } from './plantEnv.ts'
import type { Plant } from './plants.ts'

const roundMs = 6_000
const killPauseMs = 1_500
const quietMs = 1_500
const mostQuietMs = 10_000
const observeMs = 30_000
/** What a system without faults shows for a while, too, has to stay for as long as it may take to recover. */
const recoveryMs = 30_000
const temporary: ReadonlySet<string> = new Set([
  ...['webhook missing', 'outcome still unknown', 'wrong intent', 'wrong status', 'wrong amount', 'write altered'],
  ...['list differs from the log', 'payment not listed once', 'notification not accepted', 'write not in the log'],
])

export type PlantReport = { readonly rule: string; readonly story: string; readonly afterMs: number }

export type PlantsTried = {
  /** By the name of the planted fault, since the load started. */
  readonly reports: ReadonlyMap<string, PlantReport>
  /** What the judge said at last. */
  readonly violations: readonly Violation[]
}

/** @param options `seconds`: how long faults may stay unreported; `env`: more variables of the apps */
export async function tryPlants(
  stack: AsyncDisposableStack,
  plants: readonly Plant[],
  options: {
    readonly seed: number
    readonly seconds: number
    readonly env?: Readonly<Record<string, string>>
  },
): Promise<PlantsTried> {
  const load = await prepareLoad(stack, { seed: options.seed, load: usualLoad })
  const env = { ...options.env, ...load.env, ...plantEnv(...plants.map(({ name }) => name)) }
  const system = await startCampaignSystem(stack, {
    env,
    logs: undefined,
    without: ['edge', 'redis'],
    eventStore: undefined,
  })
  const reports = new Map<string, PlantReport>()
  let violations: readonly Violation[] = []
  const startedAt = performance.now()
  const deadline = startedAt + options.seconds * 1_000
  const open = () => plants.filter(({ name }) => !reports.has(name))
  /** @returns whether one of the faults may be what is wrong, and time will tell */
  const report = (isCertain: boolean) =>
    open().filter(({ name, rules }) => {
      const expected = violations.filter(({ rule }) => rules.includes(rule))
      const found = expected.find(({ rule }) => isCertain || !temporary.has(rule))
      if (found !== undefined) reports.set(name, { ...found, afterMs: performance.now() - startedAt })
      return found === undefined && expected.length > 0
    }).length > 0

  load.start(system.urls)
  while (open().length > 0 && performance.now() < deadline) {
    await underLoad(plants, system)
    // With some faults a client never gets its final answer.
    await Promise.race([load.pause(), pause(mostQuietMs)])
    const paused = performance.now()
    let mayBe = true
    while (mayBe) {
      await untilQuiet(load)
      violations = judge(await observe(system.urls, load.seen(), AbortSignal.timeout(observeMs)))
      mayBe = report(performance.now() - paused > recoveryMs)
    }
    load.resume()
  }
  return { reports, violations }
}

/** Lets the load run, and kills what the faults need to be killed. */
async function underLoad(plants: readonly Plant[], { apps }: CampaignSystem): Promise<void> {
  const end = performance.now() + roundMs
  const killed = plants.flatMap(({ kills }) => (kills === undefined ? [] : [apps.get(kills)]))
  while (performance.now() < end) {
    await pause(killPauseMs)
    for (const app of killed) app?.kill()
    for (const app of killed) await app?.untilReady()
  }
}

/** Until no webhook arrives any more, or it takes too long. */
async function untilQuiet(load: Load): Promise<void> {
  const deadline = performance.now() + mostQuietMs
  for (let count = -1; count !== load.received() && performance.now() < deadline; ) {
    count = load.received()
    await pause(quietMs)
  }
}
