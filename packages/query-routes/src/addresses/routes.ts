// GET /addresses and GET /addresses/{id} (interface, sections 2.5 and 4).
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { AddressType } from '@paylog/domain/addresses/events'
import { AddressResource } from '@paylog/domain/addresses/resource'
import { exampleAddress } from '@paylog/domain/examples'
import { ownerOf } from '@paylog/domain/owner'
import { getAddress, listAddresses } from '@paylog/projections/addresses/queries'
import { newestFirst } from '@paylog/projections/queries/page'
import { knownActor } from '@paylog/runtime/http/callers'
import { Type } from 'typebox'
import { listAnswer, listed, listParameters } from '../lists.ts'
import { type Reading, readBy } from '../reading.ts'
import { SingleParams, SingleQuery, single, singleAnswer } from '../singles.ts'
import { ownEmailOnly } from '../userContext.ts'

const ListQuery = Type.Object({
  ...listParameters,
  address_type: Type.Optional(Type.With(AddressType, { description: 'Only those of this type' })),
})

export function addressRoutes({ db, sessionOrGuest, readAfter }: Reading): FastifyPluginAsyncTypebox {
  const preHandler = readAfter('addresses')

  return async (http) => {
    http.get(
      '/addresses',
      {
        onRequest: [sessionOrGuest, ownEmailOnly],
        preHandler,
        schema: {
          ...readBy('addresses', 'listAddresses', 'List the addresses of the caller', 'forbidden'),
          querystring: ListQuery,
          response: { 200: listAnswer(AddressResource, {}, { item: exampleAddress }) },
        },
      },
      async ({ actor, query: { page, limit, guest_email, address_type } }) => {
        const caller = knownActor(actor)
        const question = { owner: ownerOf(caller), page, limit, guest_email, address_type, ...newestFirst }
        return listed(caller, { page, limit, meta: {} }, await listAddresses(db, question))
      },
    )

    http.get(
      '/addresses/:id',
      {
        onRequest: sessionOrGuest,
        preHandler,
        schema: {
          ...readBy('addresses', 'getAddress', 'Get one address of the caller', 'not_found'),
          params: SingleParams,
          querystring: SingleQuery,
          response: { 200: singleAnswer(AddressResource, exampleAddress) },
        },
      },
      (request, reply) => single(request, reply, 'address', (question) => getAddress(db, question)),
    )
  }
}
