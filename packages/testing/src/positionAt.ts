// Positions of made-up events.
import type { LogCheckpoint } from '@paylog/domain/events'

/** The position of an event whose id follows from its position. */
export function positionAt(commit: bigint, prepare = commit): LogCheckpoint {
  return { commit, prepare, eventId: `00000000-0000-7000-8000-${commit.toString(16).padStart(12, '0').slice(-12)}` }
}
