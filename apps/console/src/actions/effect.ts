// What an error says about the effect of a request.
import { PaylogError } from '@paylog/client/errors'
import { statusOf } from '../api/apiErrors.ts'

/**
 * `none`: no request with the key had one. `unknown`: this one may have had one, or an earlier one with the key is still
 * executed. `not this one`: it says nothing about earlier requests.
 */
export type Effect = 'none' | 'unknown' | 'not this one'

/** An expired session, a request that did not arrive in time, and a rate limit. */
const notExecuted: readonly number[] = [401, 408, 429]
/** Nobody looked at the request, or another one was faster. */
const notStarted: readonly string[] = ['service_unavailable', 'identity_unavailable', 'concurrent_modification']

/** @param error of a request that may be a repetition */
export function effectOf(error: unknown): Effect {
  const status = statusOf(error)
  if (!(error instanceof PaylogError) || status === undefined) return 'unknown'
  if (error.code === 'idempotency_key_in_flight') return 'unknown'
  if (notExecuted.includes(status) || notStarted.includes(error.code)) return 'not this one'
  return status >= 400 && status < 500 ? 'none' : 'unknown'
}
