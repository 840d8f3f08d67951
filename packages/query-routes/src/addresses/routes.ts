// GET /addresses and GET /addresses/{id} (interface, sections 2.5 and 4).
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { ownerOf } from '@paylog/domain/actor'
import { AddressResource } from '@paylog/domain/addresses/address'
import { AddressType } from '@paylog/domain/addresses/events'
import { exampleAddress } from '@paylog/domain/examples'
import { getAddress, listAddresses } from '@paylog/projections/addresses/queries'
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

const ListQuery = Type.Object({
  ...listParameters,
  address_type: Type.Optional(Type.With(AddressType, { description: 'Only addresses of this type' })),
})

export function addressRoutes({ db, sessionOrGuest, readAfter }: QueryDependencies): FastifyPluginAsyncTypebox {
  const preHandler = readAfter('addresses', 'defaults')

  return async (http) => {
    http.get(
      '/addresses',
      {
        onRequest: [sessionOrGuest, ownEmailOnly],
        preHandler,
        schema: {
          ...readSchema('addresses', 'listAddresses', 'List the addresses of the caller', 'forbidden'),
          querystring: ListQuery,
          response: { 200: listResponse(AddressResource, {}, { item: exampleAddress }) },
        },
      },
      async ({ actor, query: { page, limit, guest_email, address_type } }) => {
        const caller = knownActor(actor)
        const criteria = { owner: ownerOf(caller), page, limit, guest_email, address_type, ...newestFirst }
        return toListResponse(caller, { page, limit, meta: {} }, await listAddresses(db, criteria))
      },
    )

    http.get(
      '/addresses/:id',
      {
        onRequest: sessionOrGuest,
        preHandler,
        schema: {
          ...readSchema('addresses', 'getAddress', 'Get one address of the caller', 'not_found'),
          params: ItemParams,
          querystring: ItemQuery,
          response: { 200: itemResponse(AddressResource, exampleAddress) },
        },
      },
      (request, reply) => replyWithItem(request, reply, 'address', (criteria) => getAddress(db, criteria)),
    )
  }
}
