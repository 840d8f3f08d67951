// The environment variable that sets when an open payment is compared with its provider.

import { parseDurationMs } from '@paylog/domain/duration'
import { durationMs } from '@paylog/runtime/config/kinds'

export const reconcileVariables = { PAYMENT_RECONCILE_AFTER: durationMs('1h') }

/** A shorter interval would query the provider about the same payment without a pause. */
const shortestMs = 1_000

/** @returns one message for each value that decodes but is out of range */
export function reconcileProblems({ PAYMENT_RECONCILE_AFTER: text = '' }: NodeJS.ProcessEnv): readonly string[] {
  const isTooShort = (parseDurationMs(text) ?? shortestMs) < shortestMs
  return isTooShort ? ['PAYMENT_RECONCILE_AFTER must be at least 1s'] : []
}
