// GET /admin/disputes: everybody's disputes, for administrators.

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { exampleId } from '@paylog/domain/examples'
import { DisputeResource } from '@paylog/domain/payments/disputes'
import { DisputeStatus } from '@paylog/domain/payments/events'
import { listDisputes } from '@paylog/projections/disputes/queries'
import { cursorParameter, decodeCursor, encodeCursor, NextCursor } from '@paylog/runtime/http/cursor'
import { Type } from 'typebox'
import { staleHeader } from '../readAfter.ts'
import { administratorSchema, type QueryDependencies } from '../routeSchemas.ts'

const ListQuery = Type.Object({
  status: Type.Optional(Type.With(DisputeStatus, { description: 'Only disputes with this status' })),
  limit: Type.Integer({ minimum: 1, maximum: 100, default: 20, description: 'Items per page' }),
  cursor: cursorParameter,
})

const example: DisputeResource = {
  id: '018f0000-0000-7000-8000-0000000000cc',
  payment_id: exampleId,
  provider_id: 'stripe',
  provider_dispute_id: 'du_1',
  amount_cents: 2599,
  currency: 'EUR',
  status: 'open',
  reason: 'fraudulent',
  evidence_due_by: '2026-02-20T00:00:00.000Z',
  created_at: '2026-02-01T12:00:00.000Z',
  updated_at: '2026-02-01T12:00:00.000Z',
}

const ListResponse = Type.Object(
  {
    success: Type.Literal(true),
    data: Type.Array(DisputeResource),
    meta: Type.Object({ limit: Type.Integer(), next_cursor: NextCursor }),
  },
  {
    description: 'A page of disputes, newest first',
    headers: staleHeader,
    examples: [{ success: true, data: [example], meta: { limit: 20, next_cursor: null } }],
  },
)

export function disputeRoutes({ db, administrator, readAfter }: QueryDependencies): FastifyPluginAsyncTypebox {
  return async (http) => {
    http.get(
      '/admin/disputes',
      {
        onRequest: administrator,
        preHandler: readAfter('disputes'),
        schema: {
          ...administratorSchema('payments', 'listDisputes', 'List disputes'),
          querystring: ListQuery,
          response: { 200: ListResponse },
        },
      },
      async ({ query: { status, limit, cursor } }) => {
        const list = ['disputes', status]
        const after = cursor === undefined ? undefined : decodeCursor(list, 'time', cursor)
        const { items, next } = await listDisputes(db, { status, limit, after })
        return { success: true as const, data: [...items], meta: { limit, next_cursor: encodeCursor(list, next) } }
      },
    )
  }
}
