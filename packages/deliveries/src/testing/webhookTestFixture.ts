// Recorded webhook tests.

import { randomUUID } from 'node:crypto'
import type { Recorded } from '@paylog/event-store/codec/codec'
import { positionAt } from '@paylog/testing/positionAt'

/** A batch of webhook tests at consecutive positions. Each leads to a delivery in every mode. */
export function webhookTestBatch(count: number, { userId = 'user-1', firstCommit = 1n } = {}) {
  const events = Array.from({ length: count }, (_, index) => webhookTestRequested(userId, firstCommit + BigInt(index)))
  const last = firstCommit + BigInt(count) - 1n
  return { events, position: positionAt(last) }
}

function webhookTestRequested(userId: string, commit: bigint): Recorded {
  const webhook_test_id = randomUUID()
  const object = { id: `test_${webhook_test_id}`, amount: 1000, currency: 'usd', status: 'succeeded' }
  return {
    type: 'WebhookTestRequested',
    data: {
      webhook_test_id,
      occurred_at: '2026-01-02T03:04:05.000Z',
      requested_by: { id: userId, type: 'customer', email: null },
      provider_id: 'sandbox',
      canonical_name: null,
      provider_type: 'payment_intent.succeeded',
      generic_type: 'payment_intent.succeeded',
      body: JSON.stringify({ id: `evt_test_${webhook_test_id}`, data: { object } }),
      object_id: object.id,
      amount_cents: 1000,
      currency: 'USD',
      status: 'succeeded',
      customer_id: null,
      customer_email: null,
      subscription: null,
      request_fingerprint: null,
      plan: { canonical_events: [], deliveries: [] },
    },
    id: randomUUID(),
    stream: `webhookTest-${webhook_test_id}`,
    revision: 0n,
    position: positionAt(commit),
    created: new Date('2026-01-02T03:04:05.000Z'),
    metadata: { correlationId: 'request-1', causationId: 'request-1', actor: `session:${userId}`, schema: 1 },
    sealed: {},
  }
}
