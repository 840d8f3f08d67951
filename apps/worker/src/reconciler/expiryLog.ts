// The log line about the expiry of a payment: what became of it, not what was asked for.

import type { EndedCall } from '@paylog/commands/payments/intentCalls'
import { existingPayment } from '@paylog/domain/payments/payment'
import type { Logger } from '@paylog/runtime/telemetry/log'

/** @param ended nothing is logged without events: then nothing has happened */
export function logExpiry(log: Logger, { state, events }: EndedCall, ids: Readonly<Record<string, string>>): void {
  if (events.length === 0) return
  const { payment_id, provider_id, status } = existingPayment(state)
  const failed = events.find((event) => event.type === 'ProviderCallFailed')?.data
  const fields = { payment_id, provider_id, status, ...ids }
  const failure = { ...fields, outcome: failed?.outcome, failure_code: failed?.failure_code }
  if (status === 'canceled') log.info(fields, 'canceled a payment that expired')
  else if (status === 'succeeded' || status === 'processing') log.info(fields, 'the payer was faster than the expiry')
  else if (failed?.outcome === 'rejected') log.warn(failure, 'the provider did not cancel a payment that expired')
  else log.warn(failure, 'a payment that expired is not canceled yet')
}
