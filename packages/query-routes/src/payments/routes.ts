// GET /payments and GET /payments/{id} (interface, sections 4.2 and 4.3).
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { exampleListedPayment, examplePayment } from '@paylog/domain/examples'
import { ownerOf } from '@paylog/domain/owner'
import { ListedPayment, PaymentResource } from '@paylog/domain/payments/resource'
import { getPayment, listPayments } from '@paylog/projections/payments/queries'
import { knownActor } from '@paylog/runtime/http/callers'
import { listResponse, toListResponse, OrderDir } from '../lists.ts'
import { type QueryDependencies, readSchema } from '../reading.ts'
import { ItemParams, ItemQuery, replyWithItem, itemResponse } from '../singles.ts'
import { ownEmailOnly } from '../userContext.ts'
import { includesMethod, ListQuery, OrderBy, toPaymentsQuery } from './listQuery.ts'

export function paymentRoutes({ db, sessionOrGuest, readAfter }: QueryDependencies): FastifyPluginAsyncTypebox {
  const payments = readAfter('payments')
  const paymentsAndMethods = readAfter('payments', 'payment_methods')

  return async (http) => {
    http.get(
      '/payments',
      {
        onRequest: [sessionOrGuest, ownEmailOnly],
        preHandler: async (request, reply) => {
          const wait = includesMethod(request.query.include) ? paymentsAndMethods : payments
          await wait(request, reply)
        },
        schema: {
          ...readSchema('payments', 'listPayments', 'List the payments of the caller', 'forbidden'),
          querystring: ListQuery,
          response: {
            200: listResponse(
              ListedPayment,
              { orderBy: OrderBy, orderDir: OrderDir },
              { item: exampleListedPayment, meta: { orderBy: 'created_at', orderDir: 'desc' } },
            ),
          },
        },
      },
      async ({ actor, query }) => {
        const caller = knownActor(actor)
        const criteria = toPaymentsQuery(ownerOf(caller), query)
        const { page, limit, orderBy, orderDir } = criteria
        return toListResponse(caller, { page, limit, meta: { orderBy, orderDir } }, await listPayments(db, criteria))
      },
    )

    http.get(
      '/payments/:id',
      {
        onRequest: sessionOrGuest,
        preHandler: paymentsAndMethods,
        schema: {
          ...readSchema('payments', 'getPayment', 'Get one payment of the caller', 'not_found'),
          params: ItemParams,
          querystring: ItemQuery,
          response: { 200: itemResponse(PaymentResource, examplePayment) },
        },
      },
      (request, reply) => replyWithItem(request, reply, 'payment', (criteria) => getPayment(db, criteria)),
    )
  }
}
