// The query string of GET /admin/products (interface, section 4.7), and the question that it asks.
import { ProductType } from '@paylog/domain/products/events'
import type { ProductsQuery } from '@paylog/projections/products/queries'
import { type Static, Type } from 'typebox'
import { maxPage, OrderDir, searchParameter } from '../lists.ts'

const Flag = Type.Enum(['true', 'false'])

export const ListQuery = Type.Object({
  // Without a default in the schema: whether it was sent makes a difference.
  page: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: maxPage,
      description: 'Which page, from 1, the default. Counts instead of offset when both are sent',
    }),
  ),
  limit: Type.Integer({ minimum: 1, maximum: 100, default: 20, description: 'How many of a page' }),
  offset: Type.Integer({ minimum: 0, maximum: maxPage, default: 0, description: 'How many are skipped, without page' }),
  category_id: Type.Optional(Type.String({ minLength: 1, maxLength: 255, description: 'Exactly this one' })),
  product_type: Type.Optional(Type.With(ProductType, { description: 'Only those of this type' })),
  is_recurring: Type.Optional(
    Type.With(Flag, { description: 'Only those that are, or are not, billed again and again' }),
  ),
  is_active: Type.Optional(Type.With(Flag, { description: 'Only those that are, or are not, on offer' })),
  search: searchParameter('the name or the description'),
  orderBy: Type.Enum(['name', 'subtotal_cents', 'created_at', 'updated_at'], {
    default: 'created_at',
    description: 'What the order is by',
  }),
  orderDir: Type.Enum(OrderDir.enum, { default: 'desc', description: 'Ascending or descending' }),
})

export function toProductsQuery({ page, offset, ...query }: Static<typeof ListQuery>): ProductsQuery {
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
