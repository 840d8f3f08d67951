// The erasures in the log.
import { Instant } from '@paylog/domain/fields'
import type { EventStore } from '@paylog/event-store/eventStore'
import { type Static, Type } from 'typebox'

export const Erasure = Type.Object(
  {
    id: Type.String({ format: 'uuid' }),
    kind: Type.Enum(['person', 'body', 'secret'], {
      description: 'body and secret: what providers sent, or client secrets, that were kept long enough',
    }),
    occurred_at: Instant,
    actor: Type.String({ description: 'Who did it' }),
    keys: Type.Integer({ description: 'The number of keys that were destroyed' }),
  },
  { title: 'Erasure' },
)
export type Erasure = Static<typeof Erasure>

/**
 * Reads the category from the start: there are few erasures beside everything else.
 * @param limit the newest ones
 * @returns the newest first
 * @throws UnreadableEventError, DomainError `event_store_unavailable`
 */
export async function listErasures(
  store: Pick<EventStore, 'readLog'>,
  { limit = Number.POSITIVE_INFINITY }: { readonly limit?: number } = {},
): Promise<Erasure[]> {
  const found: Erasure[] = []
  for await (const { type, data, metadata } of store.readLog({ prefixes: ['erasure-'] })) {
    if (type !== 'SubjectErased' && type !== 'RetentionApplied') continue
    found.push({
      id: data.erasure_id,
      kind: 'kept' in data ? data.kept : 'person',
      occurred_at: data.occurred_at,
      actor: metadata.actor,
      keys: data.key_ids.length,
    })
    if (found.length > limit) found.shift()
  }
  return found.reverse()
}
