// GET /admin/audit-trail: what administrators did, for administrators.

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { AuditTrailEntry } from '@paylog/domain/auditTrail'
import { exampleId } from '@paylog/domain/examples'
import { Instant } from '@paylog/domain/fields'
import { listAuditTrail } from '@paylog/projections/audit-trail/queries'
import { cursorParameter, decodeCursor, encodeCursor, NextCursor } from '@paylog/runtime/http/cursor'
import { Type } from 'typebox'
import { staleHeader } from '../readAfter.ts'
import { administratorSchema, exactParameter, type QueryDependencies } from '../routeSchemas.ts'
import { timeBound } from '../timeBounds.ts'

const time = (bound: string) =>
  Type.Optional(
    Type.With(Instant, {
      description: `Only what was done ${bound} this time, with a UTC offset (encode + as %2B)`,
    }),
  )

const ListQuery = Type.Object({
  action: exactParameter('this action, such as refund_payment'),
  actor: exactParameter('what this actor did, such as session:<user id>'),
  target: exactParameter('what was done to the target with this id'),
  created_at_from: time('after'),
  created_at_to: time('before'),
  limit: Type.Integer({ minimum: 1, maximum: 100, default: 20, description: 'Items per page' }),
  cursor: cursorParameter,
})

const example: AuditTrailEntry = {
  id: '018f0000-0000-7000-8000-0000000000ad',
  action: 'refund_payment',
  target: { kind: 'payment', id: exampleId },
  actor: 'session:00000000-0000-4000-8000-000000000003',
  reason: 'Ticket 4711',
  details: { amount_cents: 500 },
  created_at: '2026-02-01T12:00:00.000Z',
}

const ListResponse = Type.Object(
  {
    success: Type.Literal(true),
    data: Type.Array(AuditTrailEntry),
    meta: Type.Object({ limit: Type.Integer(), next_cursor: NextCursor }),
  },
  {
    description: 'A page of the audit trail, newest first',
    headers: staleHeader,
    examples: [{ success: true, data: [example], meta: { limit: 20, next_cursor: null } }],
  },
)

const schema = {
  ...administratorSchema('system', 'listAuditTrail', 'List what administrators did'),
  description:
    'For administrators. Refunds and other changes of payments, exports, reads of recorded events, redeliveries, rebuilds and more: who did ' +
    'it, to what, when and why. An entry is recorded before the deed, so it is also there when the deed then failed.',
  querystring: ListQuery,
  response: { 200: ListResponse },
}

export function auditTrailRoutes({ db, administrator, readAfter }: QueryDependencies): FastifyPluginAsyncTypebox {
  const options = { onRequest: administrator, preHandler: readAfter('audit_trail'), schema }
  return async (http) => {
    http.get('/admin/audit-trail', options, async ({ query }) => {
      const { action, actor, target, created_at_from, created_at_to, limit, cursor } = query
      const created_after = timeBound('created_at_from', created_at_from, Math.floor)
      const created_before = timeBound('created_at_to', created_at_to, Math.ceil)
      const bounds = [created_after?.toISOString(), created_before?.toISOString()]
      const list = ['auditTrail', action, actor, target, ...bounds]
      const after = cursor === undefined ? undefined : decodeCursor(list, 'time', cursor)
      const filters = { action, actor, target, created_after, created_before }
      const { items, next } = await listAuditTrail(db, { ...filters, limit, after })
      return { success: true as const, data: [...items], meta: { limit, next_cursor: encodeCursor(list, next) } }
    })
  }
}
