// POST /addresses, PUT and DELETE /addresses/{id}: the addresses that owners keep here (interface, sections 2.5 and 4.6).
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type Actor, actorName } from '@paylog/domain/actor'
import { requireComplete } from '@paylog/domain/addresses/address'
import { DomainError } from '@paylog/domain/errors'
import { foldEmail, ownerOf } from '@paylog/domain/owner'
import type { Callers } from '@paylog/runtime/callers'
import { callerSecurity, errorAnswers } from '@paylog/runtime/openApiParts'
import type { Workflow } from '@paylog/workflows/context'
import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { allowEmptyBody } from '../emptyBody.ts'
import { requestIdentity } from '../idempotency.ts'
import { watchForCardNumbers } from '../refuseCardNumbers.ts'
import { AddressChangeBody, changedContent, NewAddressBody, newContent } from './addressBody.ts'
import { AddressAnswer, addressAnswer, DeletedAnswer, deletedAnswer } from './answers.ts'
import { createAddress } from './createAddress.ts'
import { deleteAddress, updateAddress } from './updateAddress.ts'

export type AddressRoutes = { readonly workflow: Workflow; readonly callers: Callers }

const tags = ['addresses']
const params = Type.Object({ id: Type.String({ description: 'The id of the address' }) })
const oneAddress = { tags, params, security: callerSecurity }

export const addressRoutes =
  ({ workflow, callers }: AddressRoutes): FastifyPluginAsyncTypebox =>
  async (app) => {
    const refuseCardNumbers = watchForCardNumbers(app)
    // A guest who may not is told so before anything is said about the body.
    app.addHook('preValidation', async ({ actor, body }) => checkGuestEmail(actor, body))

    app.post(
      '/addresses',
      {
        onRequest: callers.sessionOrGuest,
        schema: {
          tags,
          summary: 'Create an address',
          description:
            'For a session, or for a guest with a token. line1, city and country are required unless the address is partial, business_name is if it is a business. With is_default the address takes the place of the former default of its type. With an Idempotency-Key the request can be repeated safely.',
          body: NewAddressBody,
          security: callerSecurity,
          response: { 201: AddressAnswer, ...errorAnswers },
        },
      },
      async (request, reply) => {
        const { actor, body } = request
        const identity = requestIdentity(request.headers['idempotency-key'], actor, 'POST /addresses', body)
        const content = newContent(body)
        requireComplete(content)
        refuseCardNumbers(request)
        const { added, replayed } = await createAddress(workflow, {
          address: {
            address_id: identity.id,
            occurred_at: workflow.now().toISOString(),
            user_id: actor.kind === 'session' ? actor.user_id : null,
            guest_email: body.guest_email ?? (actor.kind === 'guest' ? actor.guest_email : null),
            ...content,
            request_fingerprint: identity.fingerprint,
          },
          is_default: body.is_default ?? false,
          owner: knownOwner(actor),
          metadata: metadataOf(request),
        })
        if (replayed) reply.header('idempotent-replayed', 'true')
        reply.code(201)
        return addressAnswer(added, reply)
      },
    )

    app.put(
      '/addresses/:id',
      {
        onRequest: callers.sessionOrRememberedGuest,
        schema: {
          ...oneAddress,
          summary: 'Update an address',
          description:
            'What is left out stays, null clears, and the result must satisfy the rules of creation. guest_email cannot be changed. Of another address_type it is not the default any more, unless is_default asks for it. With If-Match it is changed only as the client has seen it.',
          body: AddressChangeBody,
          response: { 200: AddressAnswer, ...errorAnswers },
        },
      },
      async (request, reply) => {
        const { body } = request
        const changed = await updateAddress(workflow, {
          ...targetOf(request, request.params.id),
          changes: changedContent(body),
          ...(body.is_default !== undefined && { is_default: body.is_default }),
          refuse: () => refuseCardNumbers(request),
        })
        return addressAnswer(changed, reply)
      },
    )

    app.delete(
      '/addresses/:id',
      {
        onRequest: [callers.sessionOrRememberedGuest, allowEmptyBody],
        schema: {
          ...oneAddress,
          summary: 'Delete an address',
          description: 'With If-Match it is deleted only as the client has seen it.',
          response: { 200: DeletedAnswer, ...errorAnswers },
        },
      },
      async (request, reply) => {
        const target = { ...targetOf(request, request.params.id), refuse: () => refuseCardNumbers(request) }
        return deletedAnswer(await deleteAddress(workflow, target), reply)
      },
    )
  }

/** @throws DomainError `forbidden`: a guest token speaks for its own e-mail alone */
function checkGuestEmail(actor: Actor, body: unknown): void {
  if (actor.kind !== 'guest' || typeof body !== 'object' || body === null || !('guest_email' in body)) return
  const { guest_email } = body
  if (typeof guest_email === 'string' && foldEmail(guest_email) !== foldEmail(actor.guest_email))
    throw new DomainError('forbidden', 'The guest token belongs to another e-mail than guest_email')
}

function targetOf(request: FastifyRequest, id: string) {
  const if_match = request.headers['if-match']
  return { address_id: id.toLowerCase(), owner: knownOwner(request.actor), if_match, metadata: metadataOf(request) }
}

function knownOwner(actor: Actor): string {
  if (actor.kind === 'anonymous') throw new DomainError('unauthenticated', 'A credential is required')
  return ownerOf(actor)
}

function metadataOf({ actor, id: requestId }: FastifyRequest) {
  return { correlationId: requestId, causationId: requestId, actor: actorName(actor), requestId }
}
