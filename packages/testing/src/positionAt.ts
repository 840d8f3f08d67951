// Positions of made-up events.
import type { LogCheckpoint } from '@paylog/domain/events'

const hex = (value: bigint, digits: number) => value.toString(16).padStart(digits, '0').slice(-digits)

/** The position of an event whose id follows from its position. */
export function positionAt(commit: bigint, prepare = commit): LogCheckpoint {
  return { commit, prepare, eventId: `00000000-0000-7000-8${hex(prepare, 3)}-${hex(commit, 12)}` }
}
