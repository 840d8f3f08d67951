// GET /payment-methods and GET /payment-methods/{id} (interface, sections 2.3 and 4).
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { exampleMethod } from '@paylog/domain/examples'
import { ownerOf } from '@paylog/domain/owner'
import { PaymentMethodResource } from '@paylog/domain/payment-methods/resource'
import { getPaymentMethod, listPaymentMethods } from '@paylog/projections/payment-methods/queries'
import { newestFirst } from '@paylog/projections/queries/page'
import { knownActor } from '@paylog/runtime/http/callers'
import { Type } from 'typebox'
import { listAnswer, listed, listParameters } from '../lists.ts'
import { type Reading, readBy } from '../reading.ts'
import { SingleParams, SingleQuery, single, singleAnswer } from '../singles.ts'
import { ownEmailOnly } from '../userContext.ts'

export function paymentMethodRoutes({ db, sessionOrGuest, readAfter }: Reading): FastifyPluginAsyncTypebox {
  const preHandler = readAfter('payment_methods')

  return async (http) => {
    http.get(
      '/payment-methods',
      {
        onRequest: [sessionOrGuest, ownEmailOnly],
        preHandler,
        schema: {
          ...readBy('payment methods', 'listPaymentMethods', 'List the payment methods of the caller', 'forbidden'),
          querystring: Type.Object(listParameters),
          response: { 200: listAnswer(PaymentMethodResource, {}, { item: exampleMethod }) },
        },
      },
      async ({ actor, query: { page, limit, guest_email } }) => {
        const caller = knownActor(actor)
        const question = { owner: ownerOf(caller), page, limit, guest_email, ...newestFirst }
        return listed(caller, { page, limit, meta: {} }, await listPaymentMethods(db, question))
      },
    )

    http.get(
      '/payment-methods/:id',
      {
        onRequest: sessionOrGuest,
        preHandler,
        schema: {
          ...readBy('payment methods', 'getPaymentMethod', 'Get one payment method of the caller', 'not_found'),
          params: SingleParams,
          querystring: SingleQuery,
          response: { 200: singleAnswer(PaymentMethodResource, exampleMethod) },
        },
      },
      (request, reply) => single(request, reply, 'payment method', (question) => getPaymentMethod(db, question)),
    )
  }
}
