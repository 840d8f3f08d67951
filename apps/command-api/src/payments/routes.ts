// POST /payments/intents: open a payment.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { actorName } from '@paylog/domain/actor'
import type { PaymentMethod } from '@paylog/domain/payment-methods/paymentMethod'
import { paymentMethodSummary } from '@paylog/domain/payment-methods/resource'
import { PaymentResource, paymentResource } from '@paylog/domain/payments/resource'
import type { Callers } from '@paylog/runtime/callers'
import { callerSecurity, errorAnswers } from '@paylog/runtime/openApiParts'
import type { Workflow } from '@paylog/workflows/context'
import { openPayment } from '@paylog/workflows/openPayment'
import { enabledProvider } from '@paylog/workflows/providerCall'
import { Type } from 'typebox'
import { chosenProviderId } from '../chosenProvider.ts'
import { rememberGuestToken } from '../guest-tokens/rememberGuestToken.ts'
import { requestIdentity } from '../idempotency.ts'
import { watchForCardNumbers } from '../refuseCardNumbers.ts'
import { chosenMethod, methodOf, methodOnRecord } from './chosenMethod.ts'
import { checkCaller, initiationOf } from './initiation.ts'
import { IntentBody } from './intentBody.ts'

export type PaymentRoutes = { readonly workflow: Workflow; readonly callers: Callers }

const PaymentAnswer = Type.Object({ success: Type.Literal(true), data: PaymentResource })

export const paymentRoutes =
  ({ workflow, callers }: PaymentRoutes): FastifyPluginAsyncTypebox =>
  async (app) => {
    const refuseCardNumbers = watchForCardNumbers(app)
    app.post(
      '/payments/intents',
      {
        onRequest: callers.anyone,
        // A caller who may not is told so before anything is said about the body.
        preValidation: async ({ actor, body }) => checkCaller(actor, body),
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
        const { actor, body, id: requestId } = request
        const identity = requestIdentity(request.headers['idempotency-key'], actor, 'POST /payments/intents', body)
        const occurred_at = workflow.now().toISOString()
        const draft = initiationOf(actor, body, identity, occurred_at)
        const { payment_method_id } = body
        let method: PaymentMethod | null = null
        const metadata = { correlationId: requestId, causationId: requestId, actor: actorName(actor), requestId }
        const opened = await openPayment(workflow, {
          payment_id: identity.id,
          request_fingerprint: identity.fingerprint,
          metadata,
          async command() {
            const provider_id = chosenProviderId(body, workflow.providers)
            refuseCardNumbers(request)
            const provider = enabledProvider(workflow, provider_id)
            provider.checkAmount(draft.total_cents, draft.currency)
            method = await chosenMethod(workflow, { actor, provider, payment_method_id })
            if (actor.kind === 'guest') await rememberGuestToken(workflow.store, actor, occurred_at, metadata)
            return { ...draft, provider_id, ...(method === null ? {} : methodOnRecord(method)) }
          },
        })
        reply.header('x-event-position', opened.position.commit.toString())
        if (opened.replayed) reply.header('idempotent-replayed', 'true')
        if (opened.refusal) throw opened.refusal
        if (opened.replayed && payment_method_id !== undefined)
          method = await methodOf(workflow, actor, payment_method_id)
        reply.code(201).header('etag', `"${opened.revision}"`)
        const summary = method === null ? null : paymentMethodSummary(method)
        return { success: true as const, data: paymentResource(opened.payment, summary) }
      },
    )
  }
