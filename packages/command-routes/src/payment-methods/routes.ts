// POST /payment-methods, PUT and DELETE /payment-methods/{id} (interface, section 4.5).
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { ownerOf } from '@paylog/domain/actor'
import type { Revision } from '@paylog/event-store/append/append'
import { knownActor } from '@paylog/runtime/http/callers'
import { changeSavedMethod, removeSavedMethod } from '@paylog/workflows/payment-methods/changeSavedMethod'
import { savePaymentMethod } from '@paylog/workflows/payment-methods/savePaymentMethod'
import type { FastifyRequest } from 'fastify'
import { requestIdentity } from '../idempotency.ts'
import { requireMatch } from '../ifMatch.ts'
import { allowEmptyBody, chosenProviderId, createCardNumberCheck } from '../requestBody.ts'
import { type CommandDependencies, metadataOf } from '../requestContext.ts'
import { changedData, replyDeleted, setReplayedHeader } from '../responses.ts'
import { changeSchema, methodOptionsOf, removeSchema, replyWithMethod, saveSchema } from './routeSchemas.ts'

export const paymentMethodRoutes =
  ({ workflow, callers }: CommandDependencies): FastifyPluginAsyncTypebox =>
  async (app) => {
    const rejectCardNumbers = createCardNumberCheck(app)
    const targetOf = (request: FastifyRequest, payment_method_id: string) => ({
      payment_method_id,
      owner: ownerOf(knownActor(request.actor)),
      checkRevision(revision: Revision) {
        requireMatch(request.headers['if-match'], revision)
        rejectCardNumbers(request)
      },
      metadata: metadataOf(request),
    })

    app.post('/payment-methods', { onRequest: callers.sessionOrGuest, schema: saveSchema }, async (request, reply) => {
      const { body } = request
      const caller = knownActor(request.actor)
      const identity = requestIdentity(request.headers['idempotency-key'], caller, 'POST /payment-methods', body)
      const outcome = await savePaymentMethod(workflow, {
        request_id: identity.id,
        request_fingerprint: identity.fingerprint,
        caller,
        providerId() {
          const provider_id = chosenProviderId(body, workflow.providers)
          rejectCardNumbers(request)
          return provider_id
        },
        token: body.payment_method_token,
        options: methodOptionsOf(body),
        metadata: metadataOf(request),
      })
      if (outcome.kind === 'declined') {
        setReplayedHeader(reply)
        throw outcome.error
      }
      reply.code(outcome.created ? 201 : 200)
      return replyWithMethod(reply, outcome)
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
        const { success, data } = replyWithMethod(reply, changed)
        return { success, data: changedData(request.actor, data) }
      },
    )

    app.delete(
      '/payment-methods/:id',
      { onRequest: [callers.sessionOrRememberedGuest, allowEmptyBody], schema: removeSchema },
      async (request, reply) => {
        const { method, position } = await removeSavedMethod(workflow, targetOf(request, request.params.id))
        return replyDeleted(reply, { id: method.payment_method_id, position })
      },
    )
  }
