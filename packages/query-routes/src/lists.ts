// What all lists have in common: how they are asked for, and how they answer.
import type { ListPage } from '@paylog/projections/queries/page'
import type { KnownActor } from '@paylog/runtime/http/callers'
import { type TProperties, type TSchema, Type } from 'typebox'
import { staleHeader } from './readAfter.ts'
import { UserContext, userContext } from './userContext.ts'

/** The largest number of a page whose first row can still be counted to in 64 bits, with room to spare. */
export const maxPage = 2_147_483_647

/** In the query of every list. */
export const listParameters = {
  page: Type.Integer({ minimum: 1, maximum: maxPage, default: 1, description: 'Which page, from 1' }),
  limit: Type.Integer({ minimum: 1, maximum: 50, default: 20, description: 'How many of a page' }),
  guest_email: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 255,
      description: 'The e-mail on record; a guest has no other than its own',
    }),
  ),
  token: Type.Optional(Type.String({ description: 'Guest token' })),
}

/** @param where in words, what is searched */
export const searchParameter = (where: string) =>
  Type.Optional(
    Type.String({
      maxLength: 255,
      // Control characters are in nothing that one could search for; U+001F separates the texts that are searched.
      pattern: '^[^\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f\\u007f]*$',
      description: `Part of ${where}, in any case`,
    }),
  )

export const OrderDir = Type.Enum(['asc', 'desc'])

/** @param meta what one list tells beside its page, also in the example */
export const listResponse = <Item extends TSchema, Meta extends TProperties>(
  item: Item,
  meta: Meta,
  example: { readonly item: object; readonly meta?: object },
) =>
  Type.Object(
    {
      success: Type.Literal(true),
      data: Type.Array(item),
      meta: Type.Object({
        page: Type.Integer(),
        limit: Type.Integer(),
        total: Type.Integer(),
        hasMore: Type.Boolean(),
        ...meta,
      }),
      user_context: UserContext,
    },
    {
      description: 'One page of what the caller may see',
      headers: staleHeader,
      examples: [
        {
          success: true,
          data: [example.item],
          meta: { page: 1, limit: 20, total: 1, hasMore: false, ...example.meta },
          user_context: exampleContext,
        },
      ],
    },
  )

const exampleContext: UserContext = {
  authenticated: true,
  user_id: '00000000-0000-4000-8000-000000000001',
  user_type: 'user',
  user_email: 'ada@example.com',
  search_method: 'user_id',
}

/** The answer with one page of a list. */
export function toListResponse<Item, Meta extends object>(
  caller: KnownActor,
  { page, limit, meta }: { readonly page: number; readonly limit: number; readonly meta: Meta },
  { items, total }: ListPage<Item>,
) {
  return {
    success: true as const,
    data: [...items],
    meta: { page, limit, total, hasMore: page * limit < total, ...meta },
    user_context: userContext(caller),
  }
}
