// GET /admin/products and GET /admin/products/{id} (interface, section 4.7). The ETag guards changes of a product.

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { exampleProduct } from '@paylog/domain/examples'
import { ProductType } from '@paylog/domain/products/events'
import { ProductResource } from '@paylog/domain/products/product'
import {
  getProduct,
  listProducts,
  listProductsAfter,
  type ProductOrder,
  type ProductsQuery,
} from '@paylog/projections/products/queries'
import { cursorParameter, decodeCursor, encodeCursor, NextCursor, type OrderedValue } from '@paylog/runtime/http/cursor'
import { type Static, Type } from 'typebox'
import { staleHeader } from '../readAfter.ts'
import {
  administratorSchema,
  Flag,
  ItemParams,
  itemResponse,
  maxPage,
  OrderDir,
  type QueryDependencies,
  replyWithItem,
  searchParameter,
} from '../routeSchemas.ts'

const ListQuery = Type.Object({
  // No default in the schema, because only a sent page takes precedence over offset.
  page: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: maxPage,
      description: 'Page number, from 1 (default); takes precedence over offset',
    }),
  ),
  limit: Type.Integer({ minimum: 1, maximum: 100, default: 20, description: 'Items per page' }),
  offset: Type.Integer({
    minimum: 0,
    maximum: maxPage,
    default: 0,
    description: 'Items to skip; ignored when page is sent',
  }),
  cursor: cursorParameter,
  category_id: Type.Optional(
    Type.String({ minLength: 1, maxLength: 255, description: 'Only products of this category' }),
  ),
  product_type: Type.Optional(Type.With(ProductType, { description: 'Only products of this type' })),
  is_recurring: Type.Optional(Type.With(Flag, { description: 'Only products that are, or are not, recurring' })),
  is_active: Type.Optional(Type.With(Flag, { description: 'Only products that are, or are not, active' })),
  search: searchParameter('the name or the description'),
  orderBy: Type.Enum(['name', 'subtotal_cents', 'created_at', 'updated_at'], {
    default: 'created_at',
    description: 'Sort field',
  }),
  orderDir: Type.Enum(OrderDir.enum, { default: 'desc', description: 'Sort direction' }),
})

const ListResponse = Type.Object(
  {
    success: Type.Literal(true),
    data: Type.Array(ProductResource),
    meta: Type.Object({
      limit: Type.Integer(),
      next_cursor: NextCursor,
    }),
    pagination: Type.Optional(
      Type.Object(
        {
          total: Type.Integer(),
          limit: Type.Integer(),
          offset: Type.Integer(),
          page: Type.Integer(),
          pages: Type.Integer(),
        },
        { description: 'Absent when the request has a cursor: pages after the first do not count all products again' },
      ),
    ),
  },
  {
    description: 'A page of products',
    headers: staleHeader,
    examples: [
      {
        success: true,
        data: [exampleProduct],
        meta: { limit: 20, next_cursor: null },
        pagination: { total: 1, limit: 20, offset: 0, page: 1, pages: 1 },
      },
    ],
  },
)

export function productRoutes({ db, administrator, readAfter }: QueryDependencies): FastifyPluginAsyncTypebox {
  const common = { onRequest: administrator, preHandler: readAfter('products') }

  return async (http) => {
    http.get(
      '/admin/products',
      {
        ...common,
        schema: {
          ...administratorSchema('products', 'listProducts', 'List products'),
          querystring: ListQuery,
          response: { 200: ListResponse },
        },
      },
      async ({ query }) => {
        const { offset, ...criteria } = toProductsQuery(query)
        const { limit, orderBy } = criteria
        const list = productListIdentity(criteria)
        if (query.cursor !== undefined) {
          const after = decodeCursor(list, orderedValues[orderBy], query.cursor)
          const { items, next } = await listProductsAfter(db, { ...criteria, after })
          return { success: true as const, data: [...items], meta: { limit, next_cursor: encodeCursor(list, next) } }
        }
        const { items, total, next } = await listProducts(db, { ...criteria, offset })
        const pages = { page: Math.floor(offset / limit) + 1, pages: Math.ceil(total / limit) }
        return {
          success: true as const,
          data: [...items],
          meta: { limit, next_cursor: encodeCursor(list, next) },
          pagination: { total, limit, offset, ...pages },
        }
      },
    )

    http.get(
      '/admin/products/:id',
      {
        ...common,
        schema: {
          ...administratorSchema('products', 'getProduct', 'Get a product', 'not_found'),
          params: ItemParams,
          response: { 200: itemResponse(ProductResource, exampleProduct) },
        },
      },
      (request, reply) => replyWithItem(request, reply, 'product', ({ id }) => getProduct(db, { id })),
    )
  }
}

const orderedValues: Readonly<Record<ProductOrder, OrderedValue>> = {
  name: 'text',
  subtotal_cents: 'integer',
  created_at: 'time',
  updated_at: 'time',
}

/** The order and the filters, to which a cursor is tied. */
export function productListIdentity(query: Omit<ProductsQuery, 'limit' | 'offset'>) {
  const { orderBy, orderDir, category_id, product_type, is_recurring, is_active, search } = query
  return ['products', orderBy, orderDir, category_id, product_type, is_recurring, is_active, search]
}

function toProductsQuery({ page, offset, ...query }: Static<typeof ListQuery>): ProductsQuery {
  const { limit, category_id, product_type, is_recurring, is_active, search, orderBy, orderDir } = query
  return {
    category_id,
    product_type,
    is_recurring: flag(is_recurring),
    is_active: flag(is_active),
    search: search === '' ? undefined : search,
    offset: page === undefined ? offset : (page - 1) * limit,
    limit,
    orderBy,
    orderDir,
  }
}

function flag(text: Static<typeof Flag> | undefined): boolean | undefined {
  return text === undefined ? undefined : text === 'true'
}
