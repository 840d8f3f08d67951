// The erasures in the log.
import type { EventStore } from '@paylog/event-store/eventStore'

export type ErasureRecord = {
  readonly id: string
  /** `person`, or the bucket of a retention. */
  readonly kind: 'person' | 'body' | 'secret'
  readonly occurred_at: string
  /** Who did it, as in the metadata of events. */
  readonly actor: string
  /** The number of keys. */
  readonly keys: number
}

/**
 * Reads the category from the start: there are few erasures beside everything else.
 * @param limit the newest ones
 * @returns the newest first
 * @throws UnreadableEventError, DomainError `event_store_unavailable`
 */
export async function listErasures(
  store: Pick<EventStore, 'readLog'>,
  { limit = Number.POSITIVE_INFINITY }: { readonly limit?: number } = {},
): Promise<readonly ErasureRecord[]> {
  const found: ErasureRecord[] = []
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
