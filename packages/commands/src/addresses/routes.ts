// POST /addresses, PUT and DELETE /addresses/{id} (interface, sections 2.5 and 4.6).

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type Actor, ownerOf } from '@paylog/domain/actor'
import {
  AddressResource,
  type AddressState,
  addressResource,
  existingAddress,
  missingFields,
} from '@paylog/domain/addresses/address'
import { isCountry } from '@paylog/domain/addresses/countries'
import {
  type AddressContent,
  AddressType,
  contactFields,
  emptyAddressContent,
  placeFields,
} from '@paylog/domain/addresses/events'
import { exampleAddress } from '@paylog/domain/examples'
import { fieldsOf } from '@paylog/domain/fields'
import { knownActor } from '@paylog/runtime/http/callers'
import { allowEmptyBody } from '@paylog/runtime/http/optionalBody'
import { unchangeable } from '@paylog/runtime/http/unknownFields'
import { type FieldProblem, validatorWithRules } from '@paylog/runtime/http/validation'
import type { FastifyRequest } from 'fastify'
import { type Static, Type } from 'typebox'
import type { ShownItem } from '../defaults.ts'
import { requireOwnEmail } from '../guest-tokens/guestTokens.ts'
import { changedData, itemTarget, oneItem, orIdOnly } from '../request/ownedItems.ts'
import { createCardNumberCheck, optionalEmail, optionalText, ownEmailHooks } from '../request/requestBody.ts'
import { type CommandDependencies, repeatableRequest } from '../request/requestContext.ts'
import { IdempotencyHeaders } from '../request/requestIdentity.ts'
import { deletedResponse, replyWith, responseHeaders, responsesWith, writeErrors } from '../request/responses.ts'
import { createAddress, deleteAddress, updateAddress } from './addressCommands.ts'

const fields = {
  ...fieldsOf(placeFields, () => optionalText()),
  organization_id: optionalText({ description: 'Returned as it was sent; has no other effect' }),
  country: optionalText({ description: 'ISO 3166-1 alpha-2, any case' }),
  is_partial: Type.Optional(Type.Boolean({ description: 'line1, city and country may be missing' })),
  is_business: Type.Optional(Type.Boolean({ description: 'business_name is required' })),
  ...fieldsOf(contactFields, () => optionalText()),
  email: optionalEmail(),
  is_default: Type.Optional(Type.Boolean()),
  guest_name: optionalText(),
}

const { address_type, name, line1, city, postal_code, country, is_default } = exampleAddress

const NewAddressBody = Type.Object(
  {
    address_type: AddressType,
    ...fields,
    guest_email: optionalEmail({ description: "For a guest, the token's e-mail" }),
  },
  {
    title: 'NewAddress',
    examples: [
      { address_type, name, line1, city, postal_code, country, is_default },
      { address_type: 'shipping', is_partial: true, country: 'FR', alias: 'Somewhere in France' },
    ],
  },
)
type NewAddressBody = Static<typeof NewAddressBody>

const changeable = { address_type: Type.Optional(AddressType), ...fields }
const AddressChangeBody = Type.Object(
  { ...changeable, ...unchangeable(changeable, NewAddressBody, AddressResource) },
  { title: 'AddressChange', minProperties: 1, examples: [{ alias: 'Office', is_default: true }, { line2: null }] },
)
type AddressChangeBody = Static<typeof AddressChangeBody>

function newContent({ guest_email: _, ...body }: NewAddressBody): AddressContent {
  return { ...emptyAddressContent, address_type: body.address_type, ...changedContent(body) }
}

function changedContent({ is_default: _, country, ...changes }: AddressChangeBody): Partial<AddressContent> {
  return country === undefined ? changes : { ...changes, country: country?.toUpperCase() ?? null }
}

/** The errors of a new address beyond its schema, for any body. */
function newAddressProblems(body: unknown): readonly FieldProblem[] {
  return isObject(body) ? [...changeProblems(body), ...missingFields(body)] : []
}

/** The errors of a change beyond its schema; whether the result is complete depends on the stored address. */
function changeProblems(body: unknown): readonly FieldProblem[] {
  const country = isObject(body) ? body.country : undefined
  return typeof country === 'string' && !isCountry(country)
    ? [{ field: 'country', message: 'must be an ISO 3166-1 alpha-2 country code' }]
    : []
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

const addressResponse = responsesWith(exampleAddress)
const tags = ['addresses']
const oneAddress = { ...oneItem('address'), tags }

const createSchema = {
  ...writeErrors(['forbidden', 'idempotency_key_reused']),
  tags,
  operationId: 'createAddress',
  summary: 'Create an address',
  description:
    'For a session, or a guest with a token. line1, city and country are required unless is_partial is true; business_name is required if is_business is true. With is_default the address replaces the default of its type. With an Idempotency-Key the request can be repeated safely.',
  headers: IdempotencyHeaders,
  body: NewAddressBody,
  response: { 201: addressResponse(AddressResource, 'The address was created') },
}

const changeSchema = {
  ...oneAddress,
  operationId: 'updateAddress',
  summary: 'Update an address',
  description:
    'Omitted fields stay as they are, null clears a field, and the result must satisfy the rules of creation. guest_email cannot be changed. A new address_type ends being the default, unless is_default is true. With If-Match the address is changed only if the ETag still matches.',
  body: AddressChangeBody,
  response: { 200: addressResponse(orIdOnly(AddressResource), 'The updated address', responseHeaders.changed) },
}

const deleteSchema = {
  ...oneAddress,
  operationId: 'deleteAddress',
  summary: 'Delete an address',
  description: 'With If-Match the address is deleted only if the ETag still matches.',
  response: { 200: deletedResponse('The address was deleted') },
}

export const addressRoutes =
  ({ workflow }: CommandDependencies): FastifyPluginAsyncTypebox =>
  async (app) => {
    const rejectCardNumbers = createCardNumberCheck(app)
    const ownEmail = ownEmailHooks()
    const targetOf = (request: FastifyRequest, id: string) => itemTarget(request, id, rejectCardNumbers)

    const creation = {
      config: { callers: 'sessionOrGuest' as const },
      // Authorization comes before validation of the body.
      preValidation: [async ({ actor, body }: FastifyRequest) => checkGuestEmail(actor, body), ownEmail.hide],
      preHandler: ownEmail.restore,
      schema: createSchema,
      validatorCompiler: validatorWithRules(newAddressProblems),
    }
    app.post('/addresses', creation, async (request, reply) => {
      const { body } = request
      const caller = knownActor(request.actor)
      const {
        request_id: address_id,
        request_fingerprint,
        metadata,
      } = repeatableRequest(workflow, request, 'POST /addresses')
      const content = newContent(body)
      rejectCardNumbers(request)
      const created = await createAddress(workflow, {
        address: {
          address_id,
          occurred_at: workflow.now().toISOString(),
          user_id: caller.kind === 'session' ? caller.user_id : null,
          guest_email: body.guest_email ?? (caller.kind === 'guest' ? caller.guest_email : null),
          ...content,
          is_default: body.is_default ?? false,
          request_fingerprint,
        },
        owner: ownerOf(caller),
        metadata,
      })
      reply.code(201)
      return replyWith(reply, created, shown(created))
    })

    app.put(
      '/addresses/:id',
      {
        config: { callers: 'sessionOrRememberedGuest' },
        preValidation: ownEmail.hide,
        preHandler: ownEmail.restore,
        schema: changeSchema,
        validatorCompiler: validatorWithRules(changeProblems),
      },
      async (request, reply) => {
        const { body } = request
        const changed = await updateAddress(workflow, {
          ...targetOf(request, request.params.id),
          changes: changedContent(body),
          is_default: body.is_default,
        })
        return replyWith(reply, changed, changedData(request.actor, shown(changed)))
      },
    )

    app.delete(
      '/addresses/:id',
      { config: { callers: 'sessionOrRememberedGuest' }, onRequest: allowEmptyBody, schema: deleteSchema },
      async (request, reply) => {
        const target = targetOf(request, request.params.id)
        const { position } = await deleteAddress(workflow, target)
        return replyWith(reply, { position }, { id: target.id, deleted: true as const })
      },
    )
  }

function shown({ state, is_default }: ShownItem<AddressState>): AddressResource {
  return addressResource(existingAddress(state), is_default)
}

/** @throws DomainError `forbidden` when a guest names another e-mail than the token's */
function checkGuestEmail(actor: Actor, body: unknown): void {
  if (actor.kind === 'guest' && typeof body === 'object' && body !== null && 'guest_email' in body)
    requireOwnEmail(actor, body.guest_email, 'guest_email')
}
