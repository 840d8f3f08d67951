// POST /payments/{id}/refunds gives money back.

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { grantedRights } from '@paylog/domain/actor'
import { exampleId, examplePayment } from '@paylog/domain/examples'
import { Nullable } from '@paylog/domain/fields'
import { RefundReason } from '@paylog/domain/payments/events'
import { existingPayment } from '@paylog/domain/payments/payment'
import { RefundResource, refundResource } from '@paylog/domain/payments/refunds'
import { maxNoteLength } from '@paylog/domain/reason'
import { audited, type RequestOf } from '@paylog/runtime/http/guardRoutes'
import { optionalBody } from '@paylog/runtime/http/openApiSchemas'
import { allowEmptyBody, defaultBody } from '@paylog/runtime/http/optionalBody'
import { Type } from 'typebox'
import { createCardNumberCheck } from '../request/requestBody.ts'
import { type CommandDependencies, repeatableRequest } from '../request/requestContext.ts'
import { IdempotencyHeaders } from '../request/requestIdentity.ts'
import { idempotencyErrors, providerErrors, replyWith, responsesWith, writeErrors } from '../request/responses.ts'
import {
  changeErrorHeaders,
  MeantCurrency,
  PaymentParams,
  PositiveAmount,
  paymentTarget,
  requireCurrency,
  requireRefundLimit,
  setPositionOnError,
} from './changes.ts'
import { pathId } from './ownedPayment.ts'
import { refundPayment } from './refundPayment.ts'

const RefundBody = Type.Object(
  {
    amount_cents: PositiveAmount('At most what is left of the payment; all of it if omitted'),
    currency: MeantCurrency,
    reason: Type.Optional(Type.With(RefundReason, { description: 'other if omitted' })),
    note: Type.Optional(
      Nullable(
        Type.String({
          maxLength: maxNoteLength,
          description: 'The owner of the payment sees it; not sent to the provider',
        }),
      ),
    ),
  },
  {
    title: 'NewRefund',
    examples: [
      { amount_cents: 500, reason: 'requested_by_customer', note: 'One of two items was returned' },
      { amount_cents: 100 },
    ],
  },
)

const { currency, created_at, updated_at } = examplePayment
const exampleRefund: RefundResource = {
  id: '018f0000-0000-7000-8000-0000000000b1',
  payment_id: exampleId,
  amount_cents: 500,
  currency,
  reported_amount_cents: null,
  reported_currency: null,
  status: 'succeeded',
  reason: 'requested_by_customer',
  note: 'One of two items was returned',
  provider_refund_id: 're_1',
  failure_code: null,
  created_at,
  updated_at,
}

const refundSchema = {
  ...writeErrors(
    [
      ...(['not_found', 'payment_not_refundable', 'refund_exceeds_payment', 'currency_mismatch'] as const),
      ...providerErrors,
      ...idempotencyErrors,
    ],
    changeErrorHeaders,
  ),
  ...optionalBody,
  operationId: 'createRefund',
  tags: ['payments'],
  summary: 'Refund a payment',
  description:
    'For administrators. Gives back what the payment received, or a part of it. Pending and succeeded refunds together never exceed what was received, however many are requested at once; a failed refund frees its amount. The right may have a limit for one refund: a larger one is 403 with `details.limit_cents`. The status is pending until the provider has decided. After 504 the refund stays pending, with its amount reserved, until the provider says what became of it; `details.refund_id` is its id. With an Idempotency-Key the request can be repeated safely.',
  params: PaymentParams,
  headers: IdempotencyHeaders,
  body: RefundBody,
  response: {
    201: responsesWith(exampleRefund)(RefundResource, 'The refund was requested'),
  },
}

export const refundRoutes =
  ({ workflow }: CommandDependencies): FastifyPluginAsyncTypebox =>
  async (app) => {
    const rejectCardNumbers = createCardNumberCheck(app)
    const identityOf = (request: RequestOf<typeof refundSchema>) =>
      repeatableRequest(workflow, request, `POST /payments/${request.params.id.toLowerCase()}/refunds`)
    const refund = audited(refundSchema, 'refund_payment', async (request) => {
      const keyed = identityOf(request)
      const payment_id = pathId(request.params.id)
      rejectCardNumbers(request)
      const { amount_cents, currency, reason = 'other' } = request.body
      await requireCurrency(workflow, payment_id, currency)
      const { refund_limit_cents } = grantedRights(request.actor)
      await requireRefundLimit(workflow, payment_id, { refund_id: keyed.request_id, amount_cents, refund_limit_cents })
      const details = { refund_id: keyed.request_id, amount_cents: amount_cents ?? null, reason }
      return { target: paymentTarget(payment_id), details, keyed }
    })
    app.post(
      '/payments/:id/refunds',
      {
        config: { right: 'refund', audited: refund },
        onRequest: allowEmptyBody,
        preValidation: defaultBody,
        schema: refundSchema,
      },
      async (request, reply) => {
        const { request_id: refund_id, request_fingerprint, metadata } = identityOf(request)
        const payment_id = pathId(request.params.id)
        const { amount_cents, reason = 'other', note = null } = request.body
        const { refund_limit_cents } = grantedRights(request.actor)
        const command = { refund_id, request_fingerprint, amount_cents, refund_limit_cents, reason, note }
        const refunded = await setPositionOnError(workflow, reply, payment_id, () =>
          refundPayment(workflow, { ...command, payment_id, metadata }),
        )
        const { state, refund, ...write } = refunded
        reply.code(201)
        return replyWith(reply, write, refundResource(existingPayment(state), refund))
      },
    )
  }
