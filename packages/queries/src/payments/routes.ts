// GET /payments and GET /payments/{id} (interface, sections 4.2 and 4.3).
import { exampleListedPayment, examplePayment } from '@paylog/domain/examples'
import type { KnownActor } from '@paylog/runtime/http/callers'
import type { FastifyPluginAsync } from 'fastify'
import { Type } from 'typebox'
import { invalidQuery } from '../lists/filters.ts'
import { getOne } from '../lists/listRoutes.ts'
import { listOwn } from '../lists/ownLists.ts'
import { ItemQuery, type QueryDependencies, readSchema } from '../routeSchemas.ts'
import { paymentList, paymentListWithMethods, singlePayment } from './queries.ts'

const include = Type.Optional(
  Type.String({ description: 'Comma-separated: payment_method', examples: ['payment_method'] }),
)

export const paymentRoutes =
  (dependencies: QueryDependencies): FastifyPluginAsync =>
  async (http) => {
    const onRead = (caller: KnownActor, { id }: { readonly id: string }) => {
      if (caller.kind === 'guest') dependencies.onGuestRead(caller, id)
    }
    listOwn(http, dependencies, {
      path: '/payments',
      schema: readSchema('payments', 'listPayments', 'List the payments of the caller', 'forbidden'),
      list: paymentListWithMethods,
      reads: ['payments', 'payment_methods'],
      example: exampleListedPayment,
      orderDescription: 'Sort field; status sorts alphabetically',
      parameters: { include },
      onRead,
      variant: ({ include }) => (includesMethod(include) ? undefined : { list: paymentList, reads: ['payments'] }),
    })
    getOne(http, dependencies, {
      path: '/payments/:id',
      schema: readSchema('payments', 'getPayment', 'Get one payment of the caller', 'not_found'),
      list: singlePayment,
      reads: ['payments', 'payment_methods'],
      example: examplePayment,
      name: 'payment',
      callers: dependencies.sessionOrGuest,
      querystring: ItemQuery,
      onRead,
    })
  }

/** @throws DomainError `invalid_request` */
function includesMethod(include: unknown): boolean {
  if (typeof include !== 'string') return false
  if (include.split(',').some((related) => related.trim() !== 'payment_method'))
    throw invalidQuery('include', 'must be payment_method')
  return true
}
