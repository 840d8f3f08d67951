// A fault as it is planned: it begins, lasts and is undone by itself.
import type { Random } from '../random.ts'
import type { CampaignSystem } from '../system/system.ts'

export type PlannedFault = {
  /** What happens to whom, for the reader of a report. It may say more when the fault is over. */
  readonly story: string
  /** Names of the parts that no other fault may touch at the same time. */
  readonly touches: readonly string[]
  /** Of a fault of the event store's nodes. */
  readonly strike?: Strike
  /** Resolves when the fault is over. */
  readonly happen: () => Promise<void>
}

/** When a fault hit nodes of the event store, by `performance.now()`. */
export type Strike = {
  startedAt: number
  /** Of the last hit, or when a majority was let go on: from then on a leader can be elected. */
  hit: number
  /** The instance that led before. It is no new leader, unless the fault lets it lead again. */
  before: string | undefined
}

export type Plan = (
  system: CampaignSystem,
  random: Random,
  options: { readonly nextRoot: string | undefined },
) => PlannedFault | undefined

export function pick<Item>(items: readonly Item[], random: Random): Item {
  const item = items[random.between(0, items.length - 1)]
  if (item === undefined) throw new Error('there is nothing to choose from')
  return item
}

export const seconds = (ms: number) => `${(ms / 1_000).toFixed(1)} s`
