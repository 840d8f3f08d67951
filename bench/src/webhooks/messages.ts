// Generated payment events that carry their creation time.

import { randomUUID } from 'node:crypto'
import type { Recorded } from '@paylog/event-store/codec/codec'
import { positionAt } from '@paylog/testing/positionAt'
import { canonicalBody, canonicalMessages } from '@paylog/webhooks/messages/canonical'

const occurred_at = '2026-01-02T03:04:05.000Z'

/** Microseconds of a clock that all processes of this machine share. */
export function machineMicros(): number {
  return Number(process.hrtime.bigint() / 1_000n)
}

/** A success of a new payment. Its amount is the time `at`, so that the endpoint can compute the age. */
export function settledPayment(commit: bigint, at: number): Recorded {
  const payment_id = randomUUID()
  return {
    type: 'PaymentSucceeded',
    data: {
      payment_id,
      occurred_at,
      provider_id: 'sandbox',
      amount_cents: at,
      currency: 'USD',
      payer: { id: 'user-1', type: 'customer', email: 'ann@example.com' },
      project_id: null,
      provider_time: occurred_at,
      provider_event_id: null,
      provider_payment_id: null,
      received_cents: at,
    },
    id: randomUUID(),
    stream: `payment-${payment_id}`,
    revision: 2n,
    position: positionAt(commit),
    created: new Date(),
    metadata: { correlationId: 'request-1', causationId: 'request-1', actor: 'provider:sandbox', schema: 1 },
    sealed: { personal: [randomUUID()] },
  }
}

/** The webhook body of such an event. */
export function bodyOf(event: Recorded): string {
  const [message] = canonicalMessages(event)
  if (message === undefined) throw new Error('The event causes no webhook')
  return canonicalBody(message, { projectId: 'default', projectIds: [] })
}

/** The creation time in a body. */
export function momentOf(body: string): number {
  return Number(/"amount":(\d+)/.exec(body)?.[1])
}
