// GET /admin/payment-methods and GET /admin/addresses: what belongs to one owner, for administrators.

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { guestOwner, userOwner } from '@paylog/domain/actor'
import { AddressResource } from '@paylog/domain/addresses/address'
import { AddressType } from '@paylog/domain/addresses/events'
import { exampleAddress, exampleMethod } from '@paylog/domain/examples'
import { PaymentMethodResource } from '@paylog/domain/payment-methods/paymentMethod'
import { listAddresses } from '@paylog/projections/addresses/queries'
import { listPaymentMethods } from '@paylog/projections/payment-methods/queries'
import { newestFirst } from '@paylog/projections/queries/listPage'
import { type TSchema, Type } from 'typebox'
import { staleHeader } from '../readAfter.ts'
import {
  administratorSchema,
  exactParameter,
  pageMeta,
  pageParameters,
  type QueryDependencies,
  toPageResponse,
} from '../routeSchemas.ts'
import { invalidQuery } from '../timeBounds.ts'

const ownerParameters = {
  ...pageParameters,
  user_id: exactParameter('what belongs to this user'),
  guest_email: exactParameter('what belongs to the guest with this e-mail, ignoring the case of ASCII letters'),
}

const AddressesQuery = Type.Object({
  ...ownerParameters,
  address_type: Type.Optional(Type.With(AddressType, { description: 'Only addresses of this type' })),
})

const pageResponse = <Item extends TSchema>(item: Item, example: object) =>
  Type.Object(
    { success: Type.Literal(true), data: Type.Array(item), meta: Type.Object(pageMeta) },
    {
      description: 'A page of what belongs to the owner, newest first',
      headers: staleHeader,
      examples: [{ success: true, data: [example], meta: { page: 1, limit: 20, total: 1, hasMore: false } }],
    },
  )

const ownerSchema = (...args: Parameters<typeof administratorSchema>) => ({
  ...administratorSchema(...args),
  description: 'For administrators. Takes exactly one of user_id and guest_email.',
})

export function ownerRoutes({ db, administrator, readAfter }: QueryDependencies): FastifyPluginAsyncTypebox {
  return async (http) => {
    http.get(
      '/admin/payment-methods',
      {
        onRequest: administrator,
        preHandler: readAfter('payment_methods', 'defaults'),
        schema: {
          ...ownerSchema('payment methods', 'listAnyPaymentMethods', 'List the payment methods of an owner'),
          querystring: Type.Object(ownerParameters),
          response: { 200: pageResponse(PaymentMethodResource, exampleMethod) },
        },
      },
      async ({ query: { page, limit, ...named } }) => {
        const criteria = { owner: namedOwner(named), page, limit, ...newestFirst }
        return toPageResponse({ page, limit, meta: {} }, await listPaymentMethods(db, criteria))
      },
    )

    http.get(
      '/admin/addresses',
      {
        onRequest: administrator,
        preHandler: readAfter('addresses', 'defaults'),
        schema: {
          ...ownerSchema('addresses', 'listAnyAddresses', 'List the addresses of an owner'),
          querystring: AddressesQuery,
          response: { 200: pageResponse(AddressResource, exampleAddress) },
        },
      },
      async ({ query: { page, limit, address_type, ...named } }) => {
        const criteria = { owner: namedOwner(named), page, limit, address_type, ...newestFirst }
        return toPageResponse({ page, limit, meta: {} }, await listAddresses(db, criteria))
      },
    )
  }
}

type NamedOwner = { readonly user_id?: string | undefined; readonly guest_email?: string | undefined }

/** @throws DomainError `invalid_request` for both or none */
function namedOwner({ user_id, guest_email }: NamedOwner): string {
  if (user_id !== undefined && guest_email !== undefined)
    throw invalidQuery('guest_email', 'must not be given together with user_id')
  if (user_id !== undefined) return userOwner(user_id)
  if (guest_email !== undefined) return guestOwner(guest_email)
  throw invalidQuery('user_id', 'or guest_email is required')
}
