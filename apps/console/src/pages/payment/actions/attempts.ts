// The Idempotency-Key of an action, and when it gets another one.
import { PaylogError } from '@paylog/client/errors'
import { statusOf } from '../../../api/apiErrors.ts'
import { randomKey } from '../../../format/randomKey.ts'

/** A request that is repeated with the same key and content until its outcome is known. */
export type Attempt<Input> = {
  readonly key: string
  /** Of the requests so far; undefined before the first one. */
  readonly input: Input | undefined
}

export type Ending = 'unknown' | 'definite'

const inFlight: readonly string[] = ['idempotency_key_in_flight', 'concurrent_modification', 'rate_limited']
/** These say nothing of an earlier request with the key: an expired session, and a request that did not arrive in time. */
const aboutThisRequest: readonly number[] = [401, 408]

/**
 * Whether an error says that nothing was done by any request with the key. If it does not, the same request has to be repeated
 * with the same key.
 */
export function endingOf(error: unknown): Ending {
  if (!(error instanceof PaylogError)) return 'unknown'
  const { status, code } = error
  const isDefinite = status >= 400 && status < 500 && !aboutThisRequest.includes(status) && !inFlight.includes(code)
  return isDefinite ? 'definite' : 'unknown'
}

/** Whether the request may have had an effect. A rejected session has none. */
export const mayBeDone = (error: unknown): boolean =>
  statusOf(error) === 0 || (error instanceof PaylogError && error.status >= 500 && error.code !== 'service_unavailable')

export type AttemptMemory = {
  /** The open attempt of an action, or a new one. */
  begin(action: string): Attempt<unknown>
  /** Keeps the attempt, so that closing the dialog and opening it again does not lead to a second one. */
  remember(action: string, attempt: Attempt<unknown>): void
  forget(action: string): void
}

/** @param newKey a fresh key in each call */
export function createAttemptMemory(newKey: () => string = randomKey): AttemptMemory {
  const open = new Map<string, Attempt<unknown>>()
  return {
    begin: (action) => open.get(action) ?? { key: newKey(), input: undefined },
    remember: (action, attempt) => void open.set(action, attempt),
    forget: (action) => void open.delete(action),
  }
}
