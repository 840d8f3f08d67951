// POST /payment-methods, PUT and DELETE /payment-methods/{id}: the methods that owners keep (interface, section 4.5).
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type Actor, actorName } from '@paylog/domain/actor'
import { DomainError } from '@paylog/domain/errors'
import { ownerOf } from '@paylog/domain/owner'
import type { Callers } from '@paylog/runtime/callers'
import { changeSavedMethod } from '@paylog/workflows/changeSavedMethod'
import type { Workflow } from '@paylog/workflows/context'
import { removeSavedMethod } from '@paylog/workflows/removeSavedMethod'
import { savePaymentMethod } from '@paylog/workflows/savePaymentMethod'
import type { FastifyRequest } from 'fastify'
import { chosenProviderId } from '../chosenProvider.ts'
import { allowEmptyBody } from '../emptyBody.ts'
import { requestIdentity } from '../idempotency.ts'
import { requireMatch } from '../ifMatch.ts'
import { watchForCardNumbers } from '../refuseCardNumbers.ts'
import { wishesOf } from './methodBodies.ts'
import { answerWith, changeSchema, removeSchema, saveSchema } from './routeSchemas.ts'

export type PaymentMethodRoutes = { readonly workflow: Workflow; readonly callers: Callers }

export const paymentMethodRoutes =
  ({ workflow, callers }: PaymentMethodRoutes): FastifyPluginAsyncTypebox =>
  async (app) => {
    const refuseCardNumbers = watchForCardNumbers(app)
    /** Which method is meant, by whom, and what is asked before anything is done to it. */
    const targetOf = (request: FastifyRequest, payment_method_id: string) => ({
      payment_method_id,
      owner: ownerOf(knownCaller(request.actor)),
      permit(revision: bigint | 'no_stream') {
        requireMatch(request.headers['if-match'], revision)
        refuseCardNumbers(request)
      },
      metadata: metadataOf(request),
    })

    app.post('/payment-methods', { onRequest: callers.sessionOrGuest, schema: saveSchema }, async (request, reply) => {
      const { body } = request
      const caller = knownCaller(request.actor)
      const identity = requestIdentity(request.headers['idempotency-key'], caller, 'POST /payment-methods', body)
      const outcome = await savePaymentMethod(workflow, {
        request_id: identity.id,
        request_fingerprint: identity.fingerprint,
        caller,
        providerId() {
          const provider_id = chosenProviderId(body, workflow.providers)
          refuseCardNumbers(request)
          return provider_id
        },
        token: body.payment_method_token,
        wishes: wishesOf(body),
        metadata: metadataOf(request),
      })
      if (outcome.replayed) reply.header('idempotent-replayed', 'true')
      if (outcome.kind === 'declined') throw outcome.refusal
      reply.code(outcome.created ? 201 : 200)
      return answerWith(reply, outcome)
    })

    app.put(
      '/payment-methods/:id',
      { onRequest: callers.sessionOrRememberedGuest, schema: changeSchema },
      async (request, reply) => {
        const { alias, is_default } = request.body
        const changed = await changeSavedMethod(workflow, {
          ...targetOf(request, request.params.id),
          ...(alias !== undefined && { alias }),
          ...(is_default !== undefined && { is_default }),
        })
        return answerWith(reply, changed)
      },
    )

    app.delete(
      '/payment-methods/:id',
      { onRequest: [callers.sessionOrRememberedGuest, allowEmptyBody], schema: removeSchema },
      async (request, reply) => {
        const { method, position } = await removeSavedMethod(workflow, targetOf(request, request.params.id))
        reply.header('x-event-position', position.commit.toString())
        return { success: true as const, data: { id: method.payment_method_id, deleted: true as const } }
      },
    )
  }

/** @throws DomainError `unauthenticated` should a route have forgotten its guard: it fails closed */
function knownCaller(actor: Actor): Exclude<Actor, { kind: 'anonymous' }> {
  if (actor.kind === 'anonymous') throw new DomainError('unauthenticated', 'A credential is required')
  return actor
}

function metadataOf({ actor, id: requestId }: FastifyRequest) {
  return { correlationId: requestId, causationId: requestId, actor: actorName(actor), requestId }
}
