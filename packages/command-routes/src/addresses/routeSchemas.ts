// What the routes of addresses take and answer, and what their documentation says.
import { type AddressState, existingAddress } from '@paylog/domain/addresses/address'
import { AddressResource, addressResource } from '@paylog/domain/addresses/resource'
import { exampleAddress } from '@paylog/domain/examples'
import type { LoadedState } from '@paylog/event-store/eventStore'
import { callerSecurity, dataResponse } from '@paylog/runtime/http/openApiParts'
import type { FastifyReply } from 'fastify'
import { type TSchema, Type } from 'typebox'
import { responseHeaders, deletedResponse, setWriteHeaders, orIdOnly, writeErrors } from '../answers.ts'
import { IdempotencyHeaders } from '../idempotency.ts'
import { IfMatchHeaders } from '../ifMatch.ts'
import { AddressChangeBody, NewAddressBody } from './addressBodies.ts'

const example = { success: true, data: exampleAddress }

const addressResponse = <Data extends TSchema>(data: Data, description: string, headers: object) =>
  dataResponse(data, { description, headers, examples: [example] })

const common = { tags: ['addresses'], security: callerSecurity }
const oneAddress = {
  ...common,
  params: Type.Object({ id: Type.String({ description: 'The id of the address' }) }),
  headers: IfMatchHeaders,
}

export const createSchema = {
  ...common,
  ...writeErrors(['forbidden', 'idempotency_key_reused']),
  operationId: 'createAddress',
  summary: 'Create an address',
  description:
    'For a session, or for a guest with a token. line1, city and country are required unless the address is partial, business_name is if it is a business. With is_default the address takes the place of the former default of its type. With an Idempotency-Key the request can be repeated safely.',
  headers: IdempotencyHeaders,
  body: NewAddressBody,
  response: { 201: addressResponse(AddressResource, 'The address was created', responseHeaders.created) },
}

export const changeSchema = {
  ...oneAddress,
  ...writeErrors(['not_found', 'precondition_failed']),
  operationId: 'updateAddress',
  summary: 'Update an address',
  description:
    'What is left out stays, null clears, and the result must satisfy the rules of creation. guest_email cannot be changed. Of another address_type it is not the default any more, unless is_default asks for it. With If-Match it is changed only as the client has seen it.',
  body: AddressChangeBody,
  response: { 200: addressResponse(orIdOnly(AddressResource), 'The address as it is now', responseHeaders.changed) },
}

export const deleteSchema = {
  ...oneAddress,
  ...writeErrors(['not_found', 'precondition_failed']),
  operationId: 'deleteAddress',
  summary: 'Delete an address',
  description: 'With If-Match it is deleted only as the client has seen it.',
  response: { 200: deletedResponse('The address is gone') },
}

/** Answers with an address as its stream tells it. */
export function replyWithAddress(
  reply: FastifyReply,
  { state, ...write }: LoadedState<AddressState> & { readonly replayed?: boolean },
) {
  setWriteHeaders(reply, write)
  return { success: true as const, data: addressResource(existingAddress(state)) }
}
