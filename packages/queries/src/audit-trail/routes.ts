// GET /admin/audit-trail: what administrators did, for administrators.
import type { AuditTrailEntry } from '@paylog/domain/auditTrail'
import { exampleId } from '@paylog/domain/examples'
import type { FastifyPluginAsync } from 'fastify'
import { listOfEverybody } from '../lists/listRoutes.ts'
import { administratorSchema, type QueryDependencies } from '../routeSchemas.ts'
import { auditTrailList } from './queries.ts'

const example: AuditTrailEntry = {
  id: '018f0000-0000-7000-8000-0000000000ad',
  action: 'refund_payment',
  target: { kind: 'payment', id: exampleId },
  actor: 'session:00000000-0000-4000-8000-000000000003',
  reason: 'Ticket 4711',
  actor_email: 'admin@example.com',
  details: { amount_cents: 500 },
  amount_cents: 500,
  currency: 'EUR',
  outcome: 'done',
  created_at: '2026-02-01T12:00:00.000Z',
}

const schema = {
  ...administratorSchema('system', 'listAuditTrail', 'List what administrators did'),
  description:
    'For administrators. Refunds and other changes of payments, exports, reads of recorded events, redeliveries, rebuilds and more: who did ' +
    'it, to what, when and why, and how it ended. An entry is recorded before the action, so it is also there when the action then failed.',
}

export const auditTrailRoutes =
  (dependencies: QueryDependencies): FastifyPluginAsync =>
  async (http) =>
    listOfEverybody(http, dependencies, {
      path: '/admin/audit-trail',
      schema,
      list: auditTrailList,
      reads: ['audit_trail', 'payments'],
      example,
      description: 'A page of the audit trail, newest first',
    })
