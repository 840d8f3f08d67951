// Bodies, responses and OpenAPI descriptions of the address routes (interface, section 2.5).

import { AddressResource, addressResource, existingAddress, missingFields } from '@paylog/domain/addresses/address'
import { countryCode } from '@paylog/domain/addresses/countries'
import { type AddressContent, AddressType, emptyAddressContent } from '@paylog/domain/addresses/events'
import { DomainError } from '@paylog/domain/errors'
import { exampleAddress } from '@paylog/domain/examples'
import { callerSecurity, dataResponse } from '@paylog/runtime/http/openApiSchemas'
import type { FieldProblem } from '@paylog/runtime/http/validation'
import type { FastifyReply } from 'fastify'
import { type Static, type TSchema, Type } from 'typebox'
import { IdempotencyHeaders } from '../idempotency.ts'
import { IfMatchHeaders } from '../ifMatch.ts'
import { optionalEmail, optionalText } from '../requestBody.ts'
import { deletedResponse, orIdOnly, responseHeaders, setWriteHeaders, writeErrors } from '../responses.ts'
import type { ShownAddress } from './addressCommands.ts'

const fields = {
  organization_id: optionalText(),
  name: optionalText(),
  line1: optionalText(),
  line2: optionalText(),
  city: optionalText(),
  state: optionalText(),
  postal_code: optionalText(),
  country: optionalText({ description: 'ISO 3166-1 alpha-2, any case' }),
  is_partial: Type.Optional(Type.Boolean({ description: 'line1, city and country may be missing' })),
  is_business: Type.Optional(Type.Boolean({ description: 'business_name is required' })),
  business_name: optionalText(),
  tax_id: optionalText(),
  tax_id_type: optionalText(),
  phone: optionalText(),
  email: optionalEmail(),
  alias: optionalText(),
  is_default: Type.Optional(Type.Boolean()),
  guest_name: optionalText(),
}

const exampleContent = {
  address_type: 'billing',
  name: 'Ada Example',
  line1: '1 Sample Street',
  city: 'Berlin',
  postal_code: '10115',
  country: 'DE',
} as const

export const NewAddressBody = Type.Object(
  {
    address_type: AddressType,
    ...fields,
    guest_email: optionalEmail({ description: "For a guest, the token's e-mail" }),
  },
  {
    examples: [
      { ...exampleContent, is_default: true },
      { address_type: 'shipping', is_partial: true, country: 'FR', alias: 'Somewhere in France' },
    ],
  },
)
export type NewAddressBody = Static<typeof NewAddressBody>

export const AddressChangeBody = Type.Object(
  { address_type: Type.Optional(AddressType), ...fields },
  { minProperties: 1, examples: [{ alias: 'Office', is_default: true }, { line2: null }] },
)
export type AddressChangeBody = Static<typeof AddressChangeBody>

/** @throws DomainError `invalid_request` for a country that does not exist */
export function newContent({ guest_email: _, ...body }: NewAddressBody): AddressContent {
  return { ...emptyAddressContent, address_type: body.address_type, ...changedContent(body) }
}

/** @throws DomainError `invalid_request` for a country that does not exist */
export function changedContent({ is_default: _, country, ...changes }: AddressChangeBody): Partial<AddressContent> {
  return country === undefined ? changes : { ...changes, country: country === null ? null : existingCountry(country) }
}

function existingCountry(country: string): string {
  const code = countryCode(country)
  if (code !== undefined) return code
  throw new DomainError('invalid_request', `country ${unknownCountry.message}`, { fields: [unknownCountry] })
}

const unknownCountry = { field: 'country', message: 'must be an ISO 3166-1 alpha-2 country code' }

/** The errors of a new address beyond its schema, for any body. */
export function newAddressProblems(body: unknown): readonly FieldProblem[] {
  return isObject(body) ? [...changeProblems(body), ...missingFields(body)] : []
}

/** The errors of a change beyond its schema; whether the result is complete depends on the stored address. */
export function changeProblems(body: unknown): readonly FieldProblem[] {
  const country = isObject(body) ? body.country : undefined
  return typeof country === 'string' && countryCode(country) === undefined ? [unknownCountry] : []
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

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
    'For a session, or a guest with a token. line1, city and country are required unless is_partial is true; business_name is required if is_business is true. With is_default the address replaces the default of its type. With an Idempotency-Key the request can be repeated safely.',
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
    'Omitted fields stay as they are, null clears a field, and the result must satisfy the rules of creation. guest_email cannot be changed. A new address_type ends being the default, unless is_default is true. With If-Match the address is changed only if the ETag still matches.',
  body: AddressChangeBody,
  response: { 200: addressResponse(orIdOnly(AddressResource), 'The updated address', responseHeaders.changed) },
}

export const deleteSchema = {
  ...oneAddress,
  ...writeErrors(['not_found', 'precondition_failed']),
  operationId: 'deleteAddress',
  summary: 'Delete an address',
  description: 'With If-Match the address is deleted only if the ETag still matches.',
  response: { 200: deletedResponse('The address was deleted') },
}

/** Builds the response from the address's state. */
export function replyWithAddress(
  reply: FastifyReply,
  { state, is_default, ...write }: ShownAddress & { readonly replayed?: boolean },
) {
  setWriteHeaders(reply, write)
  return { success: true as const, data: addressResource(existingAddress(state), is_default) }
}
