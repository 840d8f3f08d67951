// GET /admin/payments: everybody's payments, for administrators.
import { exampleListedPayment } from '@paylog/domain/examples'
import type { FastifyPluginAsync } from 'fastify'
import { Type } from 'typebox'
import {
  type CursorQuery,
  cursorMeta,
  cursorParameters,
  exampleCursorMeta,
  filterParameters,
  listResponse,
  orderParameters,
} from '../lists/listRoutes.ts'
import { administratorSchema, type QueryDependencies } from '../routeSchemas.ts'
import { anyPaymentList, listAnyPayments, maxTotal } from './queries.ts'

const schema = {
  ...administratorSchema('payments', 'listAnyPayments', 'List the payments of everybody'),
  querystring: Type.Object({
    ...filterParameters(anyPaymentList),
    ...orderParameters(anyPaymentList),
    ...cursorParameters,
  }),
  response: {
    200: listResponse(anyPaymentList.item, {
      description: 'A page of payments',
      meta: {
        ...cursorMeta,
        total: Type.Integer({ description: `Counted up to ${maxTotal}` }),
        total_is_exact: Type.Boolean(),
      },
      example: {
        data: [{ ...exampleListedPayment, user_id: null, dispute_status: null, attention: false }],
        meta: { ...exampleCursorMeta, total: 1, total_is_exact: true },
      },
    }),
  },
}

type Query = CursorQuery & { readonly search?: string }

export const adminPaymentRoutes =
  ({ db, readAfter }: QueryDependencies): FastifyPluginAsync =>
  async (http) => {
    // A search reads refunds and disputes by their ids.
    const preHandler = readAfter('payments', 'refunds', 'disputes')
    http.get<{ Querystring: Query }>(
      '/admin/payments',
      { config: { right: 'read' }, preHandler, schema },
      async ({ query }) => {
        const { items, next_cursor, total, isExact } = await listAnyPayments(db, query)
        const meta = { limit: query.limit, next_cursor, total, total_is_exact: isExact }
        return { success: true, data: items, meta }
      },
    )
  }
