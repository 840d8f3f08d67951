// Recorded webhook tests.

import { randomUUID } from 'node:crypto'
import type { Recorded } from '@paylog/event-store/codec/codec'
import { positionAt } from '@paylog/testing/positionAt'
import { recorded, tested } from './eventFixtures.ts'

/** A batch of webhook tests at consecutive positions. Each leads to a delivery in every mode. */
export function webhookTestBatch(count: number, { userId = 'user-1', firstCommit = 1n } = {}) {
  const requested_by = { id: userId, type: 'customer', email: null }
  const events = Array.from({ length: count }, (_, index): Recorded => {
    const webhook_test_id = randomUUID()
    const source = recorded(tested({ webhook_test_id, requested_by }), `webhookTest-${webhook_test_id}`)
    const place = { revision: 0n, position: positionAt(firstCommit + BigInt(index)), created: new Date() }
    return { ...source, ...place, id: webhook_test_id, metadata: { ...source.metadata, schema: 1 } }
  })
  return { events, position: positionAt(firstCommit + BigInt(count) - 1n) }
}
