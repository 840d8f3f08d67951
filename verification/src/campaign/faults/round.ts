// One round of a campaign: one to three faults that overlap.
import { setTimeout as pause } from 'node:timers/promises'
import { createRandom } from '../random.ts'
import type { CampaignSystem } from '../system/system.ts'
import { type Fault, type FaultKind, planFault } from './kinds.ts'

export type Round = {
  readonly number: number
  readonly faults: readonly Fault[]
  /** Resolves when all its faults are over. */
  run(): Promise<void>
}

const mostFaults = 3
/** The next fault of a round begins at most so much later. */
const longestPauseMs = 2_000

/** Plans a round. It depends on the seed and the number only, so that it can be repeated alone. */
export function planRound(
  system: CampaignSystem,
  options: {
    readonly seed: number
    readonly number: number
    readonly kinds: readonly FaultKind[]
    readonly nextRoot: string | undefined
  },
): Round {
  const { seed, number } = options
  const random = createRandom(seed, `round ${number}`)
  const wanted = random.weighted({ 1: 50, 2: 35, 3: 15 })
  const planned: { readonly fault: Fault; readonly afterMs: number }[] = []
  for (let attempt = 0; attempt < mostFaults * 4 && planned.length < Number(wanted); attempt++) {
    const fault = planFault(system, random, options)
    const afterMs = random.between(0, longestPauseMs)
    const taken = planned.flatMap((other) => other.fault.touches)
    if (fault !== undefined && !fault.touches.some((part) => taken.includes(part))) planned.push({ fault, afterMs })
  }
  return {
    number,
    faults: planned.map(({ fault }) => fault),
    async run() {
      await Promise.all(
        planned.map(async ({ fault, afterMs }) => {
          await pause(afterMs)
          await fault.happen()
        }),
      )
    },
  }
}
