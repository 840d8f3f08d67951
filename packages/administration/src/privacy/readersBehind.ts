// How far the read models and the webhooks are.

import { isAfter, type LogPosition } from '@paylog/domain/events'
import type { EventStore } from '@paylog/event-store/eventStore'
import { liveCheckpoints } from '@paylog/projections/apply/checkpoints'
import { projections } from '@paylog/projections/registry'
import { readCheckpoint, webhookSubscription } from '@paylog/webhooks/deliveries/subscriptions/checkpoint'
import { streamPrefixes } from '@paylog/webhooks/deliveries/subscriptions/exclusiveSubscription'
import type { Pool } from 'pg'

/**
 * The read models and the webhooks that have not handled the event at a position yet.
 * @throws DomainError `event_store_unavailable`; errors of Postgres
 */
export async function readersBehind(pool: Pool, store: EventStore, position: LogPosition): Promise<readonly string[]> {
  const live = await liveCheckpoints(pool)
  const readers = [
    ...projections.map(({ name, streamPrefixes: prefixes }) => ({ name, prefixes, at: live.get(name)?.position })),
    { name: webhookSubscription, prefixes: streamPrefixes, at: await readCheckpoint(pool, webhookSubscription) },
  ]
  const behind: string[] = []
  for (const { name, prefixes, at } of readers) {
    if (at !== undefined && !isAfter(position, at)) continue
    // A checkpoint stays where it is while no event of the reader follows.
    const { first, isMore } = await store.lag(at, prefixes, { maxEvents: 1 })
    if (first === undefined ? isMore : !isAfter(first.position, position)) behind.push(name)
  }
  return behind
}
