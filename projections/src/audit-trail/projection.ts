// The projection of the audit trail: one row for each action of an administrator.
import { type AuditTrailEntry, auditTrailEvents } from '@paylog/domain/auditTrail'
import { jsonOf, latest, nullable, personal, text, textOf, time } from '../columns.ts'
import { defineProjection } from '../projection.ts'

const columns = {
  action: text,
  target_kind: nullable(text),
  target_id: nullable(text),
  actor: text,
  actor_email: personal(nullable(text)),
  reason: nullable(text),
  details: jsonOf<Readonly<Record<string, unknown>>>(),
  outcome: latest(textOf<AuditTrailEntry['outcome']>()),
  created_at: time,
}

export const auditTrail = defineProjection({
  name: 'audit_trail',
  schemaVersion: 2,
  streamPrefix: 'auditTrail-',
  columns,
  indexes: (table) => `
    create index if not exists ${table}_by_creation on ${table} (created_at, id);
    create index if not exists ${table}_by_action on ${table} (action, created_at, id);
    create index if not exists ${table}_by_actor on ${table} (actor, created_at, id);
    create index if not exists ${table}_by_target on ${table} (target_id, created_at, id);`,
  idOf: ({ data }) => data.action_id,
  events: auditTrailEvents,
  opens: { AdministratorActed: ['personal'] },
  on: {
    AdministratorActed: ({ data: { action, target, actor, actor_email = null, reason, details, occurred_at } }) => ({
      insert: {
        ...{ action, actor, actor_email, reason, details },
        target_kind: target?.kind ?? null,
        target_id: target?.id ?? null,
        outcome: 'unknown',
        created_at: occurred_at,
      },
    }),
    AdministratorActionEnded: ({ data: { outcome } }) => ({ patch: { outcome } }),
  },
})
