// GET /admin/disputes: everybody's disputes, for administrators.
import { exampleId } from '@paylog/domain/examples'
import type { FastifyPluginAsync } from 'fastify'
import { listOfEverybody } from '../lists/listRoutes.ts'
import { administratorSchema, type QueryDependencies } from '../routeSchemas.ts'
import { disputeList } from './queries.ts'

const example = {
  id: '018f0000-0000-7000-8000-0000000000cc',
  payment_id: exampleId,
  provider_id: 'stripe',
  provider_dispute_id: 'du_1',
  amount_cents: 2599,
  currency: 'EUR',
  reported_amount_cents: null,
  reported_currency: null,
  status: 'open',
  reason: 'fraudulent',
  evidence_due_by: '2026-02-20T00:00:00.000Z',
  created_at: '2026-02-01T12:00:00.000Z',
  updated_at: '2026-02-01T12:00:00.000Z',
  taken_at: '2026-02-01T12:00:00.000Z',
  given_back_at: null,
  concept: 'Order 1001',
  reference_code: null,
}

export const disputeRoutes =
  (dependencies: QueryDependencies): FastifyPluginAsync =>
  async (http) =>
    listOfEverybody(http, dependencies, {
      path: '/admin/disputes',
      schema: administratorSchema('payments', 'listDisputes', 'List disputes'),
      list: disputeList,
      reads: ['disputes', 'payments'],
      example,
      description: 'A page of disputes',
    })
