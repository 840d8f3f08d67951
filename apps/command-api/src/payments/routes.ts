// POST /payments/intents: open a payment.

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { actorName } from '@paylog/domain/actor'
import { DomainError } from '@paylog/domain/errors'
import type { EventMetadata } from '@paylog/domain/messages'
import { PaymentResource, paymentResource } from '@paylog/domain/payments/resource'
import { guestTokenStream } from '@paylog/event-store/streamName'
import type { Provider } from '@paylog/providers/provider'
import type { Callers } from '@paylog/runtime/callers'
import { callerSecurity, errorAnswers } from '@paylog/runtime/openApiParts'
import type { Workflow } from '@paylog/workflows/context'
import { enabledProvider, openPayment } from '@paylog/workflows/openPayment'
import { Type } from 'typebox'
import { requestIdentity } from '../idempotency.ts'
import { refuseCardNumbers } from '../refuseCardNumbers.ts'
import { checkCaller, chosenProviderId, initiationOf } from './initiation.ts'
import { IntentBody } from './intentBody.ts'

export type PaymentRoutes = { readonly workflow: Workflow; readonly callers: Callers }

const PaymentAnswer = Type.Object({ success: Type.Literal(true), data: PaymentResource })

export const paymentRoutes =
  ({ workflow, callers }: PaymentRoutes): FastifyPluginAsyncTypebox =>
  async (app) => {
    refuseCardNumbers(app)
    app.post(
      '/payments/intents',
      {
        onRequest: callers.anyone,
        schema: {
          tags: ['payments'],
          summary: 'Create a payment intent',
          description:
            'For a session, for a guest who sends guest_data, or anonymously. With an Idempotency-Key the request can be repeated safely.',
          body: IntentBody,
          security: [{}, ...callerSecurity],
          response: { 201: PaymentAnswer, ...errorAnswers },
        },
      },
      async (request, reply) => {
        const { actor, body } = request
        checkCaller(actor, body)
        const provider = enabledProvider(workflow, chosenProviderId(body, workflow.providers))
        checkMethod(provider, body.payment_method_id)
        const identity = requestIdentity(request.headers['idempotency-key'], actor, 'POST /payments/intents', body)
        const occurred_at = workflow.now().toISOString()
        const metadata: EventMetadata = {
          correlationId: request.id,
          causationId: request.id,
          actor: actorName(actor),
          requestId: request.id,
        }
        const command = initiationOf(actor, body, provider.id, identity, occurred_at)
        const opened = await openPayment(workflow, { command, metadata })
        if (actor.kind === 'guest') await rememberGuestToken(workflow, actor, occurred_at, metadata)
        reply.header('x-event-position', opened.position.commit.toString())
        if (opened.replayed) reply.header('idempotent-replayed', 'true')
        if (opened.refusal) throw opened.refusal
        reply.code(201).header('etag', `"${opened.revision}"`)
        return { success: true as const, data: paymentResource(opened.payment) }
      },
    )
  }

/** @throws DomainError `reference_not_found`: saved methods do not exist yet, so only a provider's test methods are known */
function checkMethod(provider: Provider, paymentMethodId: string | undefined): void {
  if (paymentMethodId === undefined || provider.isTestMethod(paymentMethodId)) return
  throw new DomainError('reference_not_found', 'There is no such payment method', { field: 'payment_method_id' })
}

/** Keeps whose the token was, so that the guest can still be recognised shortly after it expired. */
async function rememberGuestToken(
  { store }: Workflow,
  { token_hash, guest_email }: { readonly token_hash: string; readonly guest_email: string },
  occurred_at: string,
  metadata: EventMetadata,
): Promise<void> {
  await store.handle({
    stream: guestTokenStream(token_hash),
    fold: { initialState: null, evolve: () => null },
    decide: () => [{ type: 'GuestTokenSeen' as const, data: { guest_email, occurred_at } }],
    metadata,
  })
}
