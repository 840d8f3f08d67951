// What the worker does at an erasure in the log: it destroys the keys, if they still exist, and empties what came from them.
import type { ErasureEvent } from '@paylog/domain/erasures'
import { domainCodec, type Recorded } from '@paylog/event-store/codec/codec'
import { requireReadable, tryDecode } from '@paylog/event-store/codec/decoder'
import type { EventStore } from '@paylog/event-store/eventStore'
import type { Logger } from '@paylog/runtime/telemetry/log'
import type { Pool } from 'pg'
import { emptyDeliveries } from '../tables/erasure.ts'

export type Erasures = {
  /** Idempotent: an interrupted erasure is met again. @throws database errors */
  apply(erasure: Recorded<ErasureEvent>): Promise<void>
  /**
   * Decodes those of the events again which these keys opened before they were destroyed.
   * @throws DomainError `event_store_unavailable`
   */
  withoutKeys(events: readonly Recorded[], keyIds: readonly string[]): Promise<readonly Recorded[]>
}

export const isErasure = (event: Recorded): event is Recorded<ErasureEvent> =>
  event.type === 'SubjectErased' || event.type === 'RetentionApplied'

export function createErasures(deps: {
  readonly pool: Pool
  readonly keys: { readonly destroy: (ids: readonly string[]) => Promise<unknown> }
  readonly store: Pick<EventStore, 'readRawPage'>
  readonly log: Pick<Logger, 'info'>
}): Erasures {
  const { pool, keys, store, log } = deps

  async function decodedWithoutKeys({ stream, revision }: Recorded): Promise<readonly Recorded[]> {
    const { events } = await store.readRawPage(stream, revision, 1)
    return requireReadable(events.map((event) => tryDecode(domainCodec, event)))
  }

  return {
    async apply({ data: { erasure_id, key_ids } }) {
      // Before events are read again.
      await keys.destroy(key_ids)
      const deliveries = await emptyDeliveries(pool, key_ids)
      log.info({ erasure_id, keys: key_ids.length, deliveries }, 'emptied deliveries of erased data')
    },
    async withoutKeys(events, keyIds) {
      const destroyed = new Set(keyIds)
      const found: Recorded[] = []
      for (const event of events) {
        const wasOpened = Object.values(event.sealed).some((ids) => ids.some((id) => destroyed.has(id)))
        found.push(...(wasOpened ? await decodedWithoutKeys(event) : [event]))
      }
      return found
    },
  }
}
