// POST /payments/{id}/cancel, /refresh and /capture change a payment that exists.

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { ErrorCode } from '@paylog/domain/errors'
import { examplePayment } from '@paylog/domain/examples'
import { Nullable } from '@paylog/domain/fields'
import { PaymentResource } from '@paylog/domain/payments/resource'
import { maxNoteLength } from '@paylog/domain/reason'
import type { Right } from '@paylog/domain/rights'
import { audited } from '@paylog/runtime/http/guardRoutes'
import { optionalBody } from '@paylog/runtime/http/openApiSchemas'
import { allowEmptyBody, defaultBody } from '@paylog/runtime/http/optionalBody'
import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { IfMatchHeaders, requireMatch } from '../request/ifMatch.ts'
import { createCardNumberCheck } from '../request/requestBody.ts'
import { type CommandDependencies, metadataOf } from '../request/requestContext.ts'
import { replyWith, responseHeaders, responsesWith, writeErrors } from '../request/responses.ts'
import {
  changeErrorHeaders,
  MeantCurrency,
  PaymentParams,
  PositiveAmount,
  paymentTarget,
  requireCurrency,
  setPositionOnError,
} from './changes.ts'
import { cancelPayment, capturePayment } from './intentCalls.ts'
import { changeablePayment, pathId } from './ownedPayment.ts'
import { shownPayment, shownToAdministrator } from './readPayment.ts'
import { createRefresh } from './refreshPayment.ts'

const callErrors: readonly ErrorCode[] = [
  'not_found',
  'provider_not_enabled',
  'provider_unavailable',
  'provider_outcome_unknown',
]
const shown = responsesWith(examplePayment)

const cancelSchema = {
  ...writeErrors(['forbidden', 'precondition_failed', 'payment_not_cancelable', ...callErrors], changeErrorHeaders),
  ...optionalBody,
  operationId: 'cancelPayment',
  tags: ['payments'],
  summary: 'Cancel a payment',
  description:
    'For the owner, and with the right refund. Cancels a payment that is pending, failed but could still be paid, or authorized and not captured, so that it can never be paid. A payer who was faster wins: then it is 409. The request can be repeated. With If-Match the payment is canceled only if the ETag still matches. A guest who may only read the payment of a session gets 403.',
  params: PaymentParams,
  headers: IfMatchHeaders,
  body: Type.Object(
    {
      reason: Type.Optional(
        Nullable(
          Type.String({
            maxLength: maxNoteLength,
            description: 'For the record and the history; not sent to the provider',
          }),
        ),
      ),
    },
    { examples: [{ reason: 'The customer changed their mind' }] },
  ),
  response: {
    200: responsesWith({ ...examplePayment, status: 'canceled', completed_at: examplePayment.updated_at })(
      PaymentResource,
      'The canceled payment',
      responseHeaders.changed,
    ),
  },
}

const refreshSchema = {
  ...writeErrors(['forbidden', 'payment_declined', 'provider_rejected', ...callErrors], changeErrorHeaders),
  operationId: 'refreshPayment',
  tags: ['payments'],
  summary: 'Refresh a payment',
  description:
    "For the owner, and with the right read. Asks the provider for the payment's state now, captures an approved order, and makes a new hosted page when the old one has expired. The provider is asked about a payment at most once in 5 s; in between, the response is the payment as recorded. A guest who may only read the payment of a session gets 403.",
  params: PaymentParams,
  response: { 200: shown(PaymentResource, 'The payment as it is now', responseHeaders.changed) },
}

const captureErrors: readonly ErrorCode[] = [
  'precondition_failed',
  'payment_not_capturable',
  'capture_exceeds_authorization',
  'currency_mismatch',
  'payment_declined',
  'provider_rejected',
  'currency_not_supported',
]

const captureSchema = {
  ...writeErrors([...captureErrors, ...callErrors], changeErrorHeaders),
  ...optionalBody,
  operationId: 'capturePayment',
  tags: ['payments'],
  summary: 'Capture an authorized payment',
  description:
    'For administrators. Captures all that is authorized, or a part of it; the rest is released. The total of the payment stays as it is, amount_received_cents says what was captured. A payment is captured once: a repeated request is 409. With If-Match it is captured only if the ETag still matches.',
  params: PaymentParams,
  headers: IfMatchHeaders,
  body: Type.Object(
    { amount_cents: PositiveAmount('At most what is authorized; all of it if omitted'), currency: MeantCurrency },
    { examples: [{ amount_cents: 2599 }] },
  ),
  response: {
    200: responsesWith({
      ...examplePayment,
      capture_method: 'manual',
      status: 'succeeded',
      amount_received_cents: 2599,
    })(
      PaymentResource,
      'The payment; it is still processing where the provider captures later',
      responseHeaders.changed,
    ),
  },
}

export const paymentChangeRoutes =
  ({ workflow }: CommandDependencies): FastifyPluginAsyncTypebox =>
  async (app) => {
    const rejectCardNumbers = createCardNumberCheck(app)
    const refresh = createRefresh(workflow)
    const callOn = (request: FastifyRequest, payment_id: string) => ({
      payment_id,
      metadata: metadataOf(request),
      checkRevision: requireMatch.bind(undefined, request.headers['if-match']),
    })
    /** The audit trail has what administrators do with payments of others. */
    async function othersPayment(request: FastifyRequest, id: string, right: Right) {
      const { payment_id, isOwn } = await changeablePayment(workflow, request, id, right)
      return isOwn ? undefined : { target: paymentTarget(payment_id) }
    }

    const cancel = audited(cancelSchema, 'cancel_payment', async (request) => {
      const target = await othersPayment(request, request.params.id, 'refund')
      rejectCardNumbers(request)
      return target
    })
    app.post(
      '/payments/:id/cancel',
      {
        config: { callers: 'sessionOrGuest', audited: cancel },
        onRequest: allowEmptyBody,
        preValidation: defaultBody,
        schema: cancelSchema,
      },
      async (request, reply) => {
        const { payment_id } = await changeablePayment(workflow, request, request.params.id, 'refund')
        const { reason = null } = request.body
        const canceled = await setPositionOnError(workflow, reply, payment_id, () =>
          cancelPayment(workflow, { ...callOn(request, payment_id), reason }),
        )
        return replyWith(reply, canceled, await shownPayment(workflow.store, canceled.state))
      },
    )

    const refreshing = audited(refreshSchema, 'refresh_payment', (request) =>
      othersPayment(request, request.params.id, 'read'),
    )
    app.post(
      '/payments/:id/refresh',
      {
        config: { callers: 'sessionOrGuest', audited: refreshing },
        onRequest: allowEmptyBody,
        schema: refreshSchema,
      },
      async (request, reply) => {
        const { payment_id, isOwn } = await changeablePayment(workflow, request, request.params.id, 'read')
        const refreshed = await setPositionOnError(workflow, reply, payment_id, () =>
          refresh(payment_id, metadataOf(request)),
        )
        const payment = await shownPayment(workflow.store, refreshed.state)
        return replyWith(reply, refreshed, isOwn ? payment : shownToAdministrator(request.actor, payment))
      },
    )

    const capture = audited(captureSchema, 'capture_payment', async (request) => {
      const payment_id = pathId(request.params.id)
      const { amount_cents = null, currency } = request.body
      await requireCurrency(workflow, payment_id, currency)
      return { target: paymentTarget(payment_id), details: { amount_cents } }
    })
    app.post(
      '/payments/:id/capture',
      {
        config: { right: 'refund', audited: capture },
        onRequest: allowEmptyBody,
        preValidation: defaultBody,
        schema: captureSchema,
      },
      async (request, reply) => {
        const payment_id = pathId(request.params.id)
        const { amount_cents } = request.body
        const captured = await setPositionOnError(workflow, reply, payment_id, () =>
          capturePayment(workflow, { ...callOn(request, payment_id), amount_cents }),
        )
        const payment = await shownPayment(workflow.store, captured.state)
        return replyWith(reply, captured, shownToAdministrator(request.actor, payment))
      },
    )
  }
