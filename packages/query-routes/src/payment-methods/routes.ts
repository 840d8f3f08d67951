// GET /payment-methods and GET /payment-methods/{id} (interface, sections 2.3 and 4).
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { ownerOf } from '@paylog/domain/actor'
import { exampleMethod } from '@paylog/domain/examples'
import { PaymentMethodResource } from '@paylog/domain/payment-methods/paymentMethod'
import { getPaymentMethod, listPaymentMethods } from '@paylog/projections/payment-methods/queries'
import { newestFirst } from '@paylog/projections/queries/listPage'
import { knownActor } from '@paylog/runtime/http/callers'
import { Type } from 'typebox'
import {
  ItemParams,
  ItemQuery,
  itemResponse,
  listParameters,
  listResponse,
  ownEmailOnly,
  type QueryDependencies,
  readSchema,
  replyWithItem,
  toListResponse,
} from '../routeSchemas.ts'

export function paymentMethodRoutes({ db, sessionOrGuest, readAfter }: QueryDependencies): FastifyPluginAsyncTypebox {
  const preHandler = readAfter('payment_methods', 'defaults')

  return async (http) => {
    http.get(
      '/payment-methods',
      {
        onRequest: [sessionOrGuest, ownEmailOnly],
        preHandler,
        schema: {
          ...readSchema('payment methods', 'listPaymentMethods', 'List the payment methods of the caller', 'forbidden'),
          querystring: Type.Object(listParameters),
          response: { 200: listResponse(PaymentMethodResource, {}, { item: exampleMethod }) },
        },
      },
      async ({ actor, query: { page, limit, guest_email } }) => {
        const caller = knownActor(actor)
        const criteria = { owner: ownerOf(caller), page, limit, guest_email, ...newestFirst }
        return toListResponse(caller, { page, limit, meta: {} }, await listPaymentMethods(db, criteria))
      },
    )

    http.get(
      '/payment-methods/:id',
      {
        onRequest: sessionOrGuest,
        preHandler,
        schema: {
          ...readSchema('payment methods', 'getPaymentMethod', 'Get one payment method of the caller', 'not_found'),
          params: ItemParams,
          querystring: ItemQuery,
          response: { 200: itemResponse(PaymentMethodResource, exampleMethod) },
        },
      },
      (request, reply) => replyWithItem(request, reply, 'payment method', (criteria) => getPaymentMethod(db, criteria)),
    )
  }
}
