// What a capture of PayPal's says about the payment behind it.
import type { Evidence } from '@paylog/domain/payments/evidence'
import { type Static, Type } from 'typebox'
import { Code } from '../fields.ts'
import { Money } from './amounts.ts'
import { amountOf, statusIn } from './answers.ts'

export const Capture = Type.Object({
  id: Code,
  status: Type.String(),
  amount: Money,
  status_details: Type.Optional(Type.Object({ reason: Type.Optional(Code) })),
})
export type Capture = Static<typeof Capture>

const captureStatuses: Readonly<Record<string, 'succeeded' | 'processing' | 'failed'>> = {
  COMPLETED: 'succeeded',
  // What went back later does not undo that the payment succeeded.
  PARTIALLY_REFUNDED: 'succeeded',
  REFUNDED: 'succeeded',
  PENDING: 'processing',
  DECLINED: 'failed',
  DENIED: 'failed',
  FAILED: 'failed',
}

/** @throws ProviderError `unknown` for a status that we do not know */
export const statusOfCapture = (capture: Capture) => statusIn(captureStatuses, capture)

/** What a capture says, apart from whose it is. @throws ProviderError `unknown` when it cannot be read */
export function captureEvidence(
  capture: Capture,
): Pick<Evidence, 'status' | 'provider_payment_id' | 'amount_cents' | 'currency' | 'failure_code' | 'failure_message'> {
  const status = statusOfCapture(capture)
  const evidence = { status, provider_payment_id: capture.id, ...amountOf(capture.amount) }
  return status === 'failed' ? { ...evidence, ...captureFailure(capture.status_details?.reason) } : evidence
}

/** @param reason PayPal's own word for it, if it has one */
export function captureFailure(reason?: string | null) {
  return {
    failure_code: reason?.toLowerCase() ?? 'capture_declined',
    failure_message: 'PayPal could not take the payment',
  }
}
