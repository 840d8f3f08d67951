// What the routes of addresses take and answer, and what their documentation says.
import { type AddressState, kept } from '@paylog/domain/addresses/address'
import { AddressResource, addressResource } from '@paylog/domain/addresses/resource'
import { exampleAddress } from '@paylog/domain/examples'
import type { Loaded } from '@paylog/event-store/eventStore'
import { callerSecurity, dataAnswer } from '@paylog/runtime/http/openApiParts'
import type { FastifyReply } from 'fastify'
import { type TSchema, Type } from 'typebox'
import { answerHeaders, deletedAnswer, markAnswer, orIdAlone, writeRefusals } from '../answers.ts'
import { IdempotencyHeaders } from '../idempotency.ts'
import { IfMatchHeaders } from '../ifMatch.ts'
import { AddressChangeBody, NewAddressBody } from './addressBodies.ts'

const example = { success: true, data: exampleAddress }

const addressAnswer = <Data extends TSchema>(data: Data, description: string, headers: object) =>
  dataAnswer(data, { description, headers, examples: [example] })

const common = { tags: ['addresses'], security: callerSecurity }
const oneAddress = {
  ...common,
  params: Type.Object({ id: Type.String({ description: 'The id of the address' }) }),
  headers: IfMatchHeaders,
}

export const createSchema = {
  ...common,
  ...writeRefusals(['forbidden', 'idempotency_key_reused']),
  operationId: 'createAddress',
  summary: 'Create an address',
  description:
    'For a session, or for a guest with a token. line1, city and country are required unless the address is partial, business_name is if it is a business. With is_default the address takes the place of the former default of its type. With an Idempotency-Key the request can be repeated safely.',
  headers: IdempotencyHeaders,
  body: NewAddressBody,
  response: { 201: addressAnswer(AddressResource, 'The address was created', answerHeaders.created) },
}

export const changeSchema = {
  ...oneAddress,
  ...writeRefusals(['not_found', 'precondition_failed']),
  operationId: 'updateAddress',
  summary: 'Update an address',
  description:
    'What is left out stays, null clears, and the result must satisfy the rules of creation. guest_email cannot be changed. Of another address_type it is not the default any more, unless is_default asks for it. With If-Match it is changed only as the client has seen it.',
  body: AddressChangeBody,
  response: { 200: addressAnswer(orIdAlone(AddressResource), 'The address as it is now', answerHeaders.changed) },
}

export const deleteSchema = {
  ...oneAddress,
  ...writeRefusals(['not_found', 'precondition_failed']),
  operationId: 'deleteAddress',
  summary: 'Delete an address',
  description: 'With If-Match it is deleted only as the client has seen it.',
  response: { 200: deletedAnswer('The address is gone') },
}

/** Answers with an address as its stream tells it. */
export function answerAddress(
  reply: FastifyReply,
  { state, ...write }: Loaded<AddressState> & { readonly replayed?: boolean },
) {
  markAnswer(reply, write)
  return { success: true as const, data: addressResource(kept(state)) }
}
