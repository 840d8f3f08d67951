// POST /payments/intents opens a payment.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { examplePayment } from '@paylog/domain/examples'
import { type PaymentMethod, paymentMethodSummary } from '@paylog/domain/payment-methods/paymentMethod'
import { PaymentResource, paymentResource } from '@paylog/domain/payments/resource'
import { endOfPaymentId, paymentIdEndingIn } from '@paylog/providers/findableId'
import { callerSecurity, dataResponse } from '@paylog/runtime/http/openApiSchemas'
import { enabledProvider } from '../context.ts'
import { rememberGuestToken } from '../guest-tokens/guestTokens.ts'
import { IdempotencyHeaders } from '../request/idempotency.ts'
import { etagOf } from '../request/ifMatch.ts'
import { chosenProviderId, createCardNumberCheck, ownEmailHooks } from '../request/requestBody.ts'
import { type CommandDependencies, repeatableRequest } from '../request/requestContext.ts'
import {
  idempotencyErrors,
  providerErrors,
  responseHeaders,
  setWriteHeaders,
  startedErrorHeaders,
  writeErrors,
} from '../request/responses.ts'
import { type PaymentOptions, requireCaptureMethod } from './checkout.ts'
import { chosenMethod, methodOf, recordedMethodFields } from './chosenMethod.ts'
import { checkCaller, IntentBody, initiatePaymentCommand } from './intentBody.ts'
import { openPayment } from './openPayment.ts'

const PaymentResponse = dataResponse(PaymentResource, {
  description: 'The payment was opened; the client pays it at the provider with the client_secret',
  headers: responseHeaders.created,
  examples: [examplePayment],
})

export type PaymentRouteOptions = { readonly payments: PaymentOptions }

const createSchema = {
  ...writeErrors(
    [
      ...(['forbidden', 'amount_inconsistent', 'reference_not_found', 'capture_method_not_supported'] as const),
      ...providerErrors,
      ...idempotencyErrors,
    ],
    startedErrorHeaders,
  ),
  operationId: 'createPaymentIntent',
  tags: ['payments'],
  summary: 'Create a payment intent',
  description:
    'For a session, a guest who sends guest_data, or an anonymous caller. With an Idempotency-Key the request can be repeated safely. Without a credential, a key is scoped to one guest_data.email and one client network (IPv4 /24, IPv6 /48): from another network it creates another payment. A payment that nobody has paid until expires_at is canceled.',
  headers: IdempotencyHeaders,
  body: IntentBody,
  security: [{}, ...callerSecurity],
  response: { 201: PaymentResponse },
}

export const paymentRoutes =
  ({ workflow, callers, payments }: CommandDependencies & PaymentRouteOptions): FastifyPluginAsyncTypebox =>
  async (app) => {
    const rejectCardNumbers = createCardNumberCheck(app)
    const ownEmail = ownEmailHooks()
    app.post(
      '/payments/intents',
      {
        config: { isAnonymous: true },
        onRequest: callers.anyone,
        // Authorization comes before validation of the body.
        preValidation: [async ({ actor, body }) => checkCaller(actor, body), ownEmail.hide],
        preHandler: ownEmail.restore,
        schema: createSchema,
      },
      async (request, reply) => {
        const { actor, body } = request
        const client = { ip: request.ip, guest_email: body.guest_data?.email }
        const identity = repeatableRequest(workflow, request, 'POST /payments/intents', client)
        const { request_id: id, request_fingerprint: fingerprint, metadata } = identity
        // The provider of an earlier request is not known here, so every derived id can be found by its end.
        const payment_id = fingerprint === null ? id : paymentIdEndingIn(endOfPaymentId(id))
        const occurred_at = workflow.now().toISOString()
        const draft = initiatePaymentCommand(actor, body, { id: payment_id, fingerprint }, occurred_at, payments)
        const { payment_method_id } = body
        let method: PaymentMethod | null = null
        const opened = await openPayment(workflow, {
          earlier: fingerprint === null ? null : { payment_id, request_fingerprint: fingerprint },
          metadata,
          async command() {
            const provider_id = chosenProviderId(body, workflow.providers)
            rejectCardNumbers(request)
            const provider = enabledProvider(workflow, provider_id)
            requireCaptureMethod(draft.capture_method, provider, workflow.providers)
            provider.checkAmount(draft.total_cents, draft.currency)
            method = await chosenMethod(workflow, { actor, provider, payment_method_id })
            if (actor.kind === 'guest') await rememberGuestToken(workflow.store, actor, occurred_at, metadata)
            const fields = method === null ? { provider_method: null } : recordedMethodFields(method)
            const newId = fingerprint === null ? provider.newPaymentId?.() : undefined
            return { ...draft, payment_id: newId ?? payment_id, provider_id, ...fields }
          },
        })
        const { position, revision, replayed } = opened
        setWriteHeaders(reply, { position, replayed })
        if (opened.error) throw opened.error
        if (replayed && payment_method_id !== undefined) method = await methodOf(workflow, actor, payment_method_id)
        reply.code(201).header('etag', etagOf(revision))
        const summary = method === null ? null : paymentMethodSummary(method)
        return { success: true as const, data: paymentResource(opened.payment, summary) }
      },
    )
  }
