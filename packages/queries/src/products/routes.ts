// GET /admin/products and GET /admin/products/{id} (interface, section 4.7). The ETag guards changes of a product.
import { exampleProduct } from '@paylog/domain/examples'
import type { FastifyPluginAsync } from 'fastify'
import { Type } from 'typebox'
import {
  type CursorQuery,
  cursorMeta,
  cursorParameters,
  exampleCursorMeta,
  fileOf,
  filterParameters,
  getOne,
  listResponse,
  maxPage,
  orderParameters,
} from '../lists/listRoutes.ts'
import { readPage, readAfter as readPageAfter } from '../lists/lists.ts'
import { administratorSchema, type QueryDependencies } from '../routeSchemas.ts'
import { productList } from './queries.ts'

const ListParameters = Type.Object({
  // No default in the schema, because only a sent page takes precedence over offset.
  page: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: maxPage,
      description: 'Page number, from 1 (default); takes precedence over offset',
    }),
  ),
  limit: cursorParameters.limit,
  offset: Type.Integer({
    minimum: 0,
    maximum: maxPage,
    default: 0,
    description: 'Items to skip; ignored when page is sent',
  }),
  cursor: cursorParameters.cursor,
  ...filterParameters(productList),
  ...orderParameters(productList),
})

const Pagination = Type.Object(
  {
    total: Type.Integer(),
    limit: Type.Integer(),
    offset: Type.Integer(),
    page: Type.Integer(),
    pages: Type.Integer(),
  },
  { description: 'Absent when the request has a cursor: pages after the first do not count all products again' },
)

const ListResponse = listResponse(productList.item, {
  description: 'A page of products',
  meta: cursorMeta,
  others: { pagination: Type.Optional(Pagination) },
  example: {
    data: [exampleProduct],
    meta: exampleCursorMeta,
    pagination: { total: 1, limit: 20, offset: 0, page: 1, pages: 1 },
  },
})

type ProductsQuery = CursorQuery & { readonly page?: number; readonly offset: number }

export const productRoutes =
  (dependencies: QueryDependencies): FastifyPluginAsync =>
  async (http) => {
    const { db, readAfter } = dependencies
    const file = fileOf({ path: '/admin/products', list: productList, example: exampleProduct })
    const schema = {
      ...administratorSchema('products', 'listProducts', 'List products'),
      querystring: ListParameters,
      response: { 200: ListResponse },
    }
    http.get<{ Querystring: ProductsQuery }>(
      '/admin/products',
      { config: { right: 'read', file }, preHandler: readAfter('products'), schema },
      async ({ query }) => {
        const { limit, page } = query
        if (query.cursor !== undefined) {
          const { items, next_cursor } = await readPageAfter(db, productList, query)
          return { success: true, data: items, meta: { limit, next_cursor } }
        }
        const offset = page === undefined ? query.offset : (page - 1) * limit
        const { items, next_cursor, total } = await readPage(db, productList, { ...query, offset })
        const pages = { page: Math.floor(offset / limit) + 1, pages: Math.ceil(total / limit) }
        return {
          success: true,
          data: items,
          meta: { limit, next_cursor },
          pagination: { total, limit, offset, ...pages },
        }
      },
    )

    getOne(http, dependencies, {
      path: '/admin/products/:id',
      schema: administratorSchema('products', 'getProduct', 'Get a product', 'not_found'),
      list: productList,
      reads: ['products'],
      example: exampleProduct,
      name: 'product',
      config: { right: 'read' },
    })
  }
