// GET /admin/payments: everybody's payments, for administrators.
import { exampleListedPayment } from '@paylog/domain/examples'
import type { FastifyPluginAsync } from 'fastify'
import { listOfEverybody } from '../lists/listRoutes.ts'
import { administratorSchema, type QueryDependencies } from '../routeSchemas.ts'
import { anyPaymentList, listFor } from './queries.ts'

export const adminPaymentRoutes =
  (dependencies: QueryDependencies): FastifyPluginAsync =>
  async (http) =>
    listOfEverybody(http, dependencies, {
      path: '/admin/payments',
      schema: administratorSchema('payments', 'listAnyPayments', 'List the payments of everybody'),
      list: anyPaymentList,
      // A search reads refunds and disputes by their ids.
      reads: ['payments', 'refunds', 'disputes'],
      example: { ...exampleListedPayment, user_id: null, dispute_status: null, attention: false },
      description: 'A page of payments',
      listFor,
    })
