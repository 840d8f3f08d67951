// GET /payments and GET /payments/{id} (interface, sections 4.2 and 4.3).
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { exampleListedPayment, examplePayment } from '@paylog/domain/examples'
import { ownerOf } from '@paylog/domain/owner'
import { ListedPayment, PaymentResource } from '@paylog/domain/payments/resource'
import { getPayment, listPayments } from '@paylog/projections/payments/queries'
import { knownActor } from '@paylog/runtime/http/callers'
import { listAnswer, listed, OrderDir } from '../lists.ts'
import { type Reading, readBy } from '../reading.ts'
import { SingleParams, SingleQuery, single, singleAnswer } from '../singles.ts'
import { ownEmailOnly } from '../userContext.ts'
import { includesMethod, ListQuery, OrderBy, paymentsQuestion } from './listQuery.ts'

export function paymentRoutes({ db, sessionOrGuest, readAfter }: Reading): FastifyPluginAsyncTypebox {
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
          ...readBy('payments', 'listPayments', 'List the payments of the caller', 'forbidden'),
          querystring: ListQuery,
          response: {
            200: listAnswer(
              ListedPayment,
              { orderBy: OrderBy, orderDir: OrderDir },
              { item: exampleListedPayment, meta: { orderBy: 'created_at', orderDir: 'desc' } },
            ),
          },
        },
      },
      async ({ actor, query }) => {
        const caller = knownActor(actor)
        const question = paymentsQuestion(ownerOf(caller), query)
        const { page, limit, orderBy, orderDir } = question
        return listed(caller, { page, limit, meta: { orderBy, orderDir } }, await listPayments(db, question))
      },
    )

    http.get(
      '/payments/:id',
      {
        onRequest: sessionOrGuest,
        preHandler: paymentsAndMethods,
        schema: {
          ...readBy('payments', 'getPayment', 'Get one payment of the caller', 'not_found'),
          params: SingleParams,
          querystring: SingleQuery,
          response: { 200: singleAnswer(PaymentResource, examplePayment) },
        },
      },
      (request, reply) => single(request, reply, 'payment', (question) => getPayment(db, question)),
    )
  }
}
