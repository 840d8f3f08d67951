// What the audit trail of a log has.
import type { AuditTrailEvent } from '@paylog/domain/auditTrail'
import type { Recorded } from '@paylog/event-store/codec/codec'
import type { EventStore } from '@paylog/event-store/eventStore'

export async function recordedActions(store: EventStore): Promise<Recorded<AuditTrailEvent>[]> {
  const actions: Recorded<AuditTrailEvent>[] = []
  for await (const event of store.readLog({ prefixes: ['auditTrail-'] }))
    if (event.type === 'AdministratorActed') actions.push(event)
  return actions
}
