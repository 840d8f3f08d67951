// GET /admin/products (interface, section 4.7) and GET /admin/products/{id}, whose ETag a change is guarded with.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { ErrorCode } from '@paylog/domain/errors'
import { exampleProduct } from '@paylog/domain/examples'
import { ProductResource } from '@paylog/domain/products/resource'
import { getProduct, listProducts } from '@paylog/projections/products/queries'
import { Type } from 'typebox'
import { staleHeader } from '../readAfter.ts'
import { type Reading, readBy } from '../reading.ts'
import { SingleParams, single, singleAnswer } from '../singles.ts'
import { ListQuery, productsQuestion } from './listQuery.ts'

const ListAnswer = Type.Object(
  {
    success: Type.Literal(true),
    data: Type.Array(ProductResource),
    pagination: Type.Object({
      total: Type.Integer(),
      limit: Type.Integer(),
      offset: Type.Integer(),
      page: Type.Integer(),
      pages: Type.Integer(),
    }),
  },
  {
    description: 'One page of the catalogue',
    headers: staleHeader,
    examples: [
      {
        success: true,
        data: [exampleProduct],
        pagination: { total: 1, limit: 20, offset: 0, page: 1, pages: 1 },
      },
    ],
  },
)

export function productRoutes({ db, administrator, readAfter }: Reading): FastifyPluginAsyncTypebox {
  const common = { onRequest: administrator, preHandler: readAfter('products') }
  const described = (...[operationId, summary, ...codes]: [string, string, ...ErrorCode[]]) => ({
    ...readBy('products', operationId, summary, ...codes),
    description: 'For administrators.',
    security: [{ session: [] }],
  })

  return async (http) => {
    http.get(
      '/admin/products',
      {
        ...common,
        schema: {
          ...described('listProducts', 'List the products of the catalogue'),
          querystring: ListQuery,
          response: { 200: ListAnswer },
        },
      },
      async ({ query }) => {
        const question = productsQuestion(query)
        const { limit, offset } = question
        const { items, total } = await listProducts(db, question)
        const pages = { page: Math.floor(offset / limit) + 1, pages: Math.ceil(total / limit) }
        return { success: true as const, data: [...items], pagination: { total, limit, offset, ...pages } }
      },
    )

    http.get(
      '/admin/products/:id',
      {
        ...common,
        schema: {
          ...described('getProduct', 'Get one product of the catalogue', 'not_found'),
          params: SingleParams,
          response: { 200: singleAnswer(ProductResource, exampleProduct) },
        },
      },
      (request, reply) => single(request, reply, 'product', ({ id }) => getProduct(db, { id })),
    )
  }
}
