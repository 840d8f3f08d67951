// POST /payments/intents initiates a payment.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { examplePayment } from '@paylog/domain/examples'
import { paymentFold } from '@paylog/domain/payments/fold'
import { PaymentResource, paymentResource } from '@paylog/domain/payments/resource'
import { newStream } from '@paylog/event-store/eventStore'
import { paymentStream } from '@paylog/event-store/streamName'
import { endOfPaymentId, paymentIdEndingIn } from '@paylog/providers/findableId'
import { dataResponse } from '@paylog/runtime/http/openApiSchemas'
import { etagOf } from '../request/ifMatch.ts'
import { createCardNumberCheck, ownEmailHooks } from '../request/requestBody.ts'
import { type CommandDependencies, repeatableRequest } from '../request/requestContext.ts'
import { IdempotencyHeaders } from '../request/requestIdentity.ts'
import {
  idempotencyErrors,
  providerErrors,
  responseHeaders,
  setWriteHeaders,
  startedErrorHeaders,
  writeErrors,
} from '../request/responses.ts'
import type { PaymentOptions } from './checkout.ts'
import { draftPayment } from './draftPayment.ts'
import { initiatePayment, replayPayment } from './initiatePayment.ts'
import { checkCaller, IntentBody } from './intentBody.ts'
import { shownPayment } from './readPayment.ts'

const PaymentResponse = dataResponse(PaymentResource, {
  description: 'The payment was initiated; the client pays it at the provider with the client_secret',
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
  response: { 201: PaymentResponse },
}

export const paymentRoutes =
  ({ workflow, payments }: CommandDependencies & PaymentRouteOptions): FastifyPluginAsyncTypebox =>
  async (app) => {
    const rejectCardNumbers = createCardNumberCheck(app)
    const ownEmail = ownEmailHooks()
    app.post(
      '/payments/intents',
      {
        config: { callers: 'anyone' },
        // Authorization comes before validation of the body.
        preValidation: [async ({ actor, body }) => checkCaller(actor, body), ownEmail.hide],
        preHandler: ownEmail.restore,
        schema: createSchema,
      },
      async (request, reply) => {
        const { actor, body } = request
        const client = { ip: request.ip, guest_email: body.guest_data?.email }
        const identity = repeatableRequest(workflow, request, 'POST /payments/intents', client)
        const { request_id: id, request_fingerprint, metadata } = identity
        // The provider of an earlier request is not known here, so every derived id can be found by its end.
        const payment_id = request_fingerprint === null ? id : paymentIdEndingIn(endOfPaymentId(id))
        const assumed =
          request_fingerprint === null
            ? newStream(paymentFold)
            : await workflow.store.load(paymentStream(payment_id), paymentFold)
        const checkBody = () => rejectCardNumbers(request)
        const draft =
          assumed.state.status === 'none'
            ? await draftPayment(workflow, payments, { ...identity, payment_id, actor, body, checkBody })
            : null
        const { payment, revision, position, replayed, error } = draft
          ? await initiatePayment(workflow, draft.command, { metadata, assumed })
          : await replayPayment(workflow, identity, { metadata, assumed })
        setWriteHeaders(reply, { position, replayed })
        if (error) throw error
        reply.code(201).header('etag', etagOf(revision))
        const data =
          draft && !replayed ? paymentResource(payment, draft.summary) : await shownPayment(workflow.store, payment)
        return { success: true as const, data }
      },
    )
  }
