// GET /admin/refunds: everybody's refunds, for administrators.
import { exampleRefund } from '@paylog/domain/examples'
import type { FastifyPluginAsync } from 'fastify'
import { listOfEverybody } from '../lists/listRoutes.ts'
import { administratorSchema, type QueryDependencies } from '../routeSchemas.ts'
import { anyRefundList } from './queries.ts'

export const adminRefundRoutes =
  (dependencies: QueryDependencies): FastifyPluginAsync =>
  async (http) =>
    listOfEverybody(http, dependencies, {
      path: '/admin/refunds',
      schema: administratorSchema('payments', 'listAnyRefunds', 'List the refunds of everybody'),
      list: anyRefundList,
      reads: ['refunds', 'payments'],
      example: {
        ...exampleRefund,
        provider_id: 'stripe',
        succeeded_at: '2026-01-31T13:00:01.000Z',
        returned_at: null,
        concept: 'Order 1001',
        reference_code: null,
      },
      description: 'A page of refunds',
    })
