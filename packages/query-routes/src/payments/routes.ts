// GET /payments and GET /payments/{id} (interface, sections 4.2 and 4.3).

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { ownerOf } from '@paylog/domain/actor'
import { exampleListedPayment, examplePayment } from '@paylog/domain/examples'
import { PaymentStatus } from '@paylog/domain/payments/payment'
import { ListedPayment, PaymentResource } from '@paylog/domain/payments/resource'
import { getPayment, listPayments, type PaymentsQuery } from '@paylog/projections/payments/queries'
import { knownActor } from '@paylog/runtime/http/callers'
import { type Static, Type } from 'typebox'
import {
  ItemParams,
  ItemQuery,
  itemResponse,
  listParameters,
  listResponse,
  OrderDir,
  ownEmailOnly,
  type QueryDependencies,
  readSchema,
  replyWithItem,
  searchParameter,
  toListResponse,
} from '../routeSchemas.ts'
import { createdFrom, createdTo, invalidQuery, timeBound } from '../timeBounds.ts'

const OrderBy = Type.Enum(['created_at', 'amount_cents', 'status', 'updated_at'])

const ListQuery = Type.Object({
  ...listParameters,
  status: Type.Optional(Type.With(PaymentStatus, { description: 'Only payments with this status' })),
  search: searchParameter('the id, an e-mail or the description'),
  created_at_from: createdFrom,
  created_at_to: createdTo,
  orderBy: Type.Enum(OrderBy.enum, {
    default: 'created_at',
    description: 'Sort field; status sorts alphabetically',
  }),
  orderDir: Type.Enum(OrderDir.enum, { default: 'desc', description: 'Sort direction' }),
  include: Type.Optional(Type.String({ description: 'Comma-separated: payment_method', examples: ['payment_method'] })),
})

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

/** @throws DomainError `invalid_request` for an unknown `include` or an impossible time. */
function toPaymentsQuery(owner: string, query: Static<typeof ListQuery>): PaymentsQuery {
  const { page, limit, status, search, orderBy, orderDir, guest_email } = query
  return {
    owner,
    status,
    search: search === '' ? undefined : search,
    guest_email,
    created_after: timeBound('created_at_from', query.created_at_from, Math.floor),
    created_before: timeBound('created_at_to', query.created_at_to, Math.ceil),
    orderBy,
    orderDir,
    page,
    limit,
    withMethod: includesMethod(query.include),
  }
}

/** @throws DomainError `invalid_request` */
function includesMethod(include: string | undefined): boolean {
  if (include === undefined) return false
  if (include.split(',').some((related) => related.trim() !== 'payment_method'))
    throw invalidQuery('include', 'must be payment_method')
  return true
}
