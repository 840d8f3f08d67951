// X-Reason: why an administrator does something, in their words, for the audit trail.
import type { IncomingHttpHeaders } from 'node:http'
import { maxReasonLength, reasonProblem } from '@paylog/domain/reason'
import { Type } from 'typebox'
import { invalidInput } from './validation.ts'

/** The headers of an operation that is recorded in the audit trail. */
export const ReasonHeaders = Type.Object({
  'x-reason': Type.Optional(
    Type.String({
      description:
        `Why an administrator does this, for the audit trail: percent-encoded UTF-8, at most ${maxReasonLength} characters. ` +
        'No personal data of payers: it stays when they are erased.',
    }),
  ),
})

/**
 * The reason that a request gives; null without one.
 * @throws DomainError `invalid_request`
 */
export function reasonOf(headers: IncomingHttpHeaders): string | null {
  const text = headers['x-reason']
  if (text === undefined) return null
  const reason = typeof text === 'string' ? decoded(text)?.trim() : undefined
  const message = reason === undefined ? 'must be percent-encoded UTF-8' : reasonProblem(reason)
  if (message !== undefined) throw invalidInput('headers', [{ field: 'x-reason', message }])
  return reason || null
}

/** Undefined for text that is not encoded: Node reads each byte of a header as one character. */
function decoded(text: string): string | undefined {
  if (!/^[\x20-\x7e]*$/.test(text)) return undefined
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}
