// GET /admin/products (interface, section 4.7) and GET /admin/products/{id}, whose ETag a change is guarded with.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { ErrorCode } from '@paylog/domain/errors'
import { exampleProduct } from '@paylog/domain/examples'
import { ProductResource } from '@paylog/domain/products/resource'
import { getProduct, listProducts } from '@paylog/projections/products/queries'
import { Type } from 'typebox'
import { staleHeader } from '../readAfter.ts'
import { type QueryDependencies, readSchema } from '../reading.ts'
import { ItemParams, replyWithItem, itemResponse } from '../singles.ts'
import { ListQuery, toProductsQuery } from './listQuery.ts'

const ListResponse = Type.Object(
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

export function productRoutes({ db, administrator, readAfter }: QueryDependencies): FastifyPluginAsyncTypebox {
  const common = { onRequest: administrator, preHandler: readAfter('products') }
  const described = (...[operationId, summary, ...codes]: [string, string, ...ErrorCode[]]) => ({
    ...readSchema('products', operationId, summary, ...codes),
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
          response: { 200: ListResponse },
        },
      },
      async ({ query }) => {
        const criteria = toProductsQuery(query)
        const { limit, offset } = criteria
        const { items, total } = await listProducts(db, criteria)
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
          params: ItemParams,
          response: { 200: itemResponse(ProductResource, exampleProduct) },
        },
      },
      (request, reply) => replyWithItem(request, reply, 'product', ({ id }) => getProduct(db, { id })),
    )
  }
}
