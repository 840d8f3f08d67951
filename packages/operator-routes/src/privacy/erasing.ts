// What an erasure needs of the read models, the webhooks and the providers. `ops privacy` uses it too.
import { countDeliveries } from '@paylog/deliveries/operations/deliveriesOfStreams'
import { readCheckpoint, webhookSubscription } from '@paylog/deliveries/subscriptions/checkpoint'
import { streamPrefixes } from '@paylog/deliveries/subscriptions/exclusiveSubscription'
import { isAfter, type LogPosition } from '@paylog/domain/events'
import type { EventStore } from '@paylog/event-store/eventStore'
import type { PersonalDataKeys } from '@paylog/privacy/dataKeys'
import type { EraseDependencies, Person } from '@paylog/privacy/erase'
import { liveCheckpoints } from '@paylog/projections/apply/checkpoints'
import { projections } from '@paylog/projections/registry'
import type { IntendedDeed } from '@paylog/workflows/auditTrail'
import type { Workflow } from '@paylog/workflows/context'
import { type ProviderRemoval, removeAtProviders } from '@paylog/workflows/erasePerson'
import type { Pool } from 'pg'

/** @param options `pool` of the owner of the tables */
export function erasing({
  pool,
  keys,
  ...workflow
}: Workflow & {
  readonly pool: Pool
  readonly keys: Pick<PersonalDataKeys, 'find'>
}): EraseDependencies<ProviderRemoval> {
  const { store, now } = workflow
  return {
    ...{ pool, keys, store, now },
    countDeliveries: (streams) => countDeliveries(pool, streams),
    removeAtProviders: (person, metadata) => removeAtProviders(workflow, person, metadata),
    behind: (position) => readersBehind(pool, store, position),
  }
}

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

/** For the audit trail, which an erasure does not reach: never an e-mail. */
export function erasureDeed(erasureId: string, { subject, findings }: Person): IntendedDeed {
  const by = 'user' in subject ? 'user' : 'payment' in subject ? 'payment' : 'email'
  const { keys, user_ids } = findings
  return { action: 'erase_person', target: { kind: 'erasure', id: erasureId }, details: { by, keys, user_ids } }
}
