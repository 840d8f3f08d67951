// GET /payment-methods and GET /payment-methods/{id} (interface, sections 2.3 and 4).
import { exampleMethod } from '@paylog/domain/examples'
import type { FastifyPluginAsync } from 'fastify'
import { getOne } from '../lists/listRoutes.ts'
import { listOwn } from '../lists/ownLists.ts'
import { ItemQuery, type QueryDependencies, readSchema } from '../routeSchemas.ts'
import { paymentMethodList } from './queries.ts'

const tag = 'payment methods'
const common = { list: paymentMethodList, reads: ['payment_methods', 'defaults'], example: exampleMethod } as const

export const paymentMethodRoutes =
  (dependencies: QueryDependencies): FastifyPluginAsync =>
  async (http) => {
    listOwn(http, dependencies, {
      ...common,
      path: '/payment-methods',
      schema: readSchema(tag, 'listPaymentMethods', 'List the payment methods of the caller', 'forbidden'),
    })
    getOne(http, dependencies, {
      ...common,
      path: '/payment-methods/:id',
      name: 'payment method',
      config: { callers: 'sessionOrGuest' },
      querystring: ItemQuery,
      schema: readSchema(tag, 'getPaymentMethod', 'Get one payment method of the caller', 'not_found'),
    })
  }
