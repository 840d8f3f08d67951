// POST /addresses, PUT and DELETE /addresses/{id} (interface, sections 2.5 and 4.6).
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type Actor, ownerOf } from '@paylog/domain/actor'
import type { Revision } from '@paylog/event-store/append/append'
import { knownActor } from '@paylog/runtime/http/callers'
import { validatorWithRules } from '@paylog/runtime/http/validation'
import type { FastifyRequest } from 'fastify'
import { requireOwnEmail } from '../guest-tokens/guestTokens.ts'
import { requestIdentity } from '../idempotency.ts'
import { requireMatch } from '../ifMatch.ts'
import { allowEmptyBody, createCardNumberCheck } from '../requestBody.ts'
import { type CommandDependencies, metadataOf } from '../requestContext.ts'
import { changedData, replyDeleted } from '../responses.ts'
import { createAddress, deleteAddress, updateAddress } from './addressCommands.ts'
import {
  changedContent,
  changeProblems,
  changeSchema,
  createSchema,
  deleteSchema,
  newAddressProblems,
  newContent,
  replyWithAddress,
} from './routeSchemas.ts'

export const addressRoutes =
  ({ workflow, callers }: CommandDependencies): FastifyPluginAsyncTypebox =>
  async (app) => {
    const rejectCardNumbers = createCardNumberCheck(app)
    const targetOf = (request: FastifyRequest, id: string) => ({
      address_id: id.toLowerCase(),
      owner: ownerOf(knownActor(request.actor)),
      checkRevision: (revision: Revision) => requireMatch(request.headers['if-match'], revision),
      checkBody: () => rejectCardNumbers(request),
      metadata: metadataOf(request),
    })

    const creation = {
      onRequest: callers.sessionOrGuest,
      // Authorization comes before validation of the body.
      preValidation: async ({ actor, body }: FastifyRequest) => checkGuestEmail(actor, body),
      schema: createSchema,
      validatorCompiler: validatorWithRules(newAddressProblems),
    }
    app.post('/addresses', creation, async (request, reply) => {
      const { body } = request
      const caller = knownActor(request.actor)
      const identity = requestIdentity(request.headers['idempotency-key'], caller, 'POST /addresses', body)
      const content = newContent(body)
      rejectCardNumbers(request)
      const created = await createAddress(workflow, {
        address: {
          address_id: identity.id,
          occurred_at: workflow.now().toISOString(),
          user_id: caller.kind === 'session' ? caller.user_id : null,
          guest_email: body.guest_email ?? (caller.kind === 'guest' ? caller.guest_email : null),
          ...content,
          is_default: body.is_default ?? false,
          request_fingerprint: identity.fingerprint,
        },
        owner: ownerOf(caller),
        metadata: metadataOf(request),
      })
      reply.code(201)
      return replyWithAddress(reply, created)
    })

    app.put(
      '/addresses/:id',
      {
        onRequest: callers.sessionOrRememberedGuest,
        schema: changeSchema,
        validatorCompiler: validatorWithRules(changeProblems),
      },
      async (request, reply) => {
        const { body } = request
        const changed = await updateAddress(workflow, {
          ...targetOf(request, request.params.id),
          changes: changedContent(body),
          ...(body.is_default !== undefined && { is_default: body.is_default }),
        })
        const { success, data } = replyWithAddress(reply, changed)
        return { success, data: changedData(request.actor, data) }
      },
    )

    app.delete(
      '/addresses/:id',
      { onRequest: [callers.sessionOrRememberedGuest, allowEmptyBody], schema: deleteSchema },
      async (request, reply) => {
        const target = targetOf(request, request.params.id)
        const { position } = await deleteAddress(workflow, target)
        return replyDeleted(reply, { id: target.address_id, position })
      },
    )
  }

/** @throws DomainError `forbidden` when a guest names another e-mail than the token's */
function checkGuestEmail(actor: Actor, body: unknown): void {
  if (actor.kind === 'guest' && typeof body === 'object' && body !== null && 'guest_email' in body)
    requireOwnEmail(actor, body.guest_email, 'guest_email')
}
