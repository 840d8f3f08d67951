// GET /admin/payment-methods and GET /admin/addresses: what belongs to one owner, for administrators.
import { guestOwner, userOwner } from '@paylog/domain/actor'
import { exampleAddress, exampleMethod } from '@paylog/domain/examples'
import type { FastifyInstance, FastifyPluginAsync } from 'fastify'
import { type TObject, Type } from 'typebox'
import { addressList } from '../addresses/queries.ts'
import { ExactText, invalidQuery } from '../lists/filters.ts'
import {
  examplePageMeta,
  fileOf,
  filterParameters,
  listResponse,
  offsetOf,
  type PageQuery,
  pageMeta,
  pageParameters,
  type Reading,
  toPageMeta,
} from '../lists/listRoutes.ts'
import { readPage } from '../lists/lists.ts'
import { paymentMethodList } from '../payment-methods/queries.ts'
import { administratorSchema, type QueryDependencies } from '../routeSchemas.ts'

const exactly = (description: string) => Type.Optional(Type.With(ExactText, { description }))

const ownerParameters = {
  user_id: exactly('Only what belongs to this user'),
  guest_email: exactly('Only what belongs to the guest with this e-mail, ignoring the case of ASCII letters'),
}

const ownerSchema = (...args: Parameters<typeof administratorSchema>) => ({
  ...administratorSchema(...args),
  description: 'For administrators. Takes exactly one of user_id and guest_email.',
})

export const ownerRoutes =
  (dependencies: QueryDependencies): FastifyPluginAsync =>
  async (http) => {
    listOfOwner(http, dependencies, {
      path: '/admin/payment-methods',
      schema: ownerSchema('payment methods', 'listAnyPaymentMethods', 'List the payment methods of an owner'),
      list: paymentMethodList,
      reads: ['payment_methods', 'defaults'],
      example: exampleMethod,
    })
    listOfOwner(http, dependencies, {
      path: '/admin/addresses',
      schema: ownerSchema('addresses', 'listAnyAddresses', 'List the addresses of an owner'),
      list: addressList,
      reads: ['addresses', 'defaults'],
      example: exampleAddress,
    })
  }

type NamedOwner = { readonly user_id?: string; readonly guest_email?: string }
type OwnerQuery = PageQuery & NamedOwner

function listOfOwner<Item extends TObject>(
  http: FastifyInstance,
  { db, readAfter }: QueryDependencies,
  reading: Reading<Item>,
): void {
  const { path, schema, list, reads, example } = reading
  const file = fileOf(reading, async (_, query) => ({ query: { owner: namedOwner(query as NamedOwner) } }))
  const querystring = Type.Object({ ...pageParameters, ...ownerParameters, ...filterParameters(list) })
  const response = listResponse(list.item, {
    description: 'A page of what belongs to the owner, newest first',
    meta: pageMeta,
    example: { data: [example], meta: examplePageMeta },
  })
  http.get<{ Querystring: OwnerQuery }>(
    path,
    {
      config: { right: 'read', file },
      preHandler: readAfter(...reads),
      schema: { ...schema, querystring, response: { 200: response } },
    },
    async ({ query }) => {
      const { items, total } = await readPage(db, list, { ...query, owner: namedOwner(query), offset: offsetOf(query) })
      return { success: true, data: items, meta: toPageMeta(query, total) }
    },
  )
}

/** @throws DomainError `invalid_request` for both or none */
function namedOwner({ user_id, guest_email }: NamedOwner): string {
  if (user_id !== undefined && guest_email !== undefined)
    throw invalidQuery('guest_email', 'must not be given together with user_id')
  if (user_id !== undefined) return userOwner(user_id)
  if (guest_email !== undefined) return guestOwner(guest_email)
  throw invalidQuery('user_id', 'or guest_email is required')
}
