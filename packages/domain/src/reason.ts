// What may stand in a reason of an administrator, and in a note.
import { hasCardNumber } from './cardNumber.ts'

/** In UTF-16 units. */
export const maxReasonLength = 500

/** What is wrong with a reason; undefined when nothing is. Control characters are unreadable in a list. */
export function reasonProblem(reason: string): string | undefined {
  if (/\p{Cc}/u.test(reason)) return 'must be one line of text'
  if (hasCardNumber(reason)) return 'must not hold a card number'
  return reason.length > maxReasonLength ? `must have at most ${maxReasonLength} characters` : undefined
}

/** Of the reason of a cancellation, and the note of a refund. */
export const maxNoteLength = 500
