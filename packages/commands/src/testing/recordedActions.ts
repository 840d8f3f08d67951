// What the audit trail of a log has.
import type { AdministratorActed } from '@paylog/domain/auditTrail'
import type { Recorded } from '@paylog/event-store/codec/codec'
import type { EventStore } from '@paylog/event-store/eventStore'

export async function recordedActions(store: EventStore): Promise<Recorded<AdministratorActed>[]> {
  const actions: Recorded<AdministratorActed>[] = []
  for await (const event of store.readLog({ prefixes: ['auditTrail-'] }))
    if (event.type === 'AdministratorActed') actions.push(event)
  return actions
}
