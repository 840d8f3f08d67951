// From positions in one log to positions in its copy, for those who have read the one and go on in the other.
import { isAfter, type LogPosition } from '@paylog/domain/logPosition'
import type { RawEvent } from '../raw/rawEvent.ts'

/** Before everything: who goes on from here reads the whole log. */
const beginning: LogPosition = { commit: 0n, prepare: 0n }

export type PositionMap = {
  /** Takes the next event of the source and its counterpart. */
  pair(source: RawEvent, target: RawEvent): void
  /** Where each position is in the target: at the last event that is at or before it. In the order in which they were given. */
  translated(): readonly LogPosition[]
}

export function createPositionMap(positions: readonly LogPosition[]): PositionMap {
  const found = new Map<LogPosition, LogPosition>()
  const waiting = positions.toSorted((one, other) => (isAfter(one, other) ? 1 : -1))
  let reached = beginning
  return {
    pair(source, target) {
      for (let next = waiting[0]; next !== undefined && isAfter(source.position, next); next = waiting[0]) {
        found.set(next, reached)
        waiting.shift()
      }
      // The target may have an event earlier than the source has; what was reached stays reached.
      if (isAfter(target.position, reached)) reached = target.position
    },
    translated: () => positions.map((position) => found.get(position) ?? reached),
  }
}
