// What the routes of payment methods take and answer, and what their documentation says.
import { PaymentMethodResource, paymentMethodResource } from '@paylog/domain/payment-methods/resource'
import { callerSecurity, dataAnswer, errorAnswers } from '@paylog/runtime/openApiParts'
import type { MethodOnRecord } from '@paylog/workflows/ownedMethod'
import type { FastifyReply } from 'fastify'
import { Type } from 'typebox'
import { answerHeaders, deletedAnswer, markAnswer } from '../answers.ts'
import { IdempotencyHeaders } from '../idempotency.ts'
import { IfMatchHeaders } from '../ifMatch.ts'
import { MethodChangeBody, NewMethodBody } from './methodBodies.ts'

const example = {
  success: true,
  data: {
    id: '018f0000-0000-5000-8000-000000000001',
    payment_type: 'card',
    wallet_type: null,
    card_brand: 'visa',
    last_four: '4242',
    expiry_month: '12',
    expiry_year: '2034',
    alias: 'Everyday card',
    type: 'card',
    provider_id: 'sandbox',
    customer_id: 'sandbox_cus_example',
    organization_id: null,
    billing_address_id: null,
    billing_details: null,
    is_default: true,
    guest_email: null,
    created_at: '2026-01-31T12:00:00.000Z',
    updated_at: '2026-01-31T12:00:00.000Z',
  },
}

const methodAnswer = (description: string, headers: object = answerHeaders.created) =>
  dataAnswer(PaymentMethodResource, { description, headers, examples: [example] })

const common = { tags: ['payment methods'], security: callerSecurity }
const oneMethod = {
  ...common,
  params: Type.Object({ id: Type.String({ description: 'The id of the payment method' }) }),
  headers: IfMatchHeaders,
}

export const saveSchema = {
  ...common,
  summary: 'Save a payment method',
  description:
    "For a session, or for a guest with a token. A user's method is attached to the user's customer at the provider, which is made with the first method; a guest's is read and attached to nobody. Brand, last four digits and expiry are the provider's. Saved again by its owner, the method is answered as it is; only is_default: true is still heeded. With an Idempotency-Key the request can be repeated safely.",
  headers: IdempotencyHeaders,
  body: NewMethodBody,
  response: {
    201: methodAnswer('The method was saved'),
    200: methodAnswer('The caller had saved it before'),
    ...errorAnswers,
  },
}

export const changeSchema = {
  ...oneMethod,
  summary: 'Update a payment method',
  description:
    'Its alias, and whether it is the default: with is_default it takes the place of the former one. What is left out stays. With If-Match it is changed only as the client has seen it.',
  body: MethodChangeBody,
  response: { 200: methodAnswer('The method as it is now', answerHeaders.changed), ...errorAnswers },
}

export const removeSchema = {
  ...oneMethod,
  summary: 'Delete a payment method',
  description:
    "A user's method is detached at the provider first; when that cannot be done, nothing is removed. With If-Match it is deleted only as the client has seen it.",
  response: { 200: deletedAnswer('The method is gone'), ...errorAnswers },
}

/** Answers with a method as its stream tells it. */
export function answerMethod(
  reply: FastifyReply,
  { method, ...write }: MethodOnRecord & { readonly replayed?: boolean },
) {
  markAnswer(reply, write)
  return { success: true as const, data: paymentMethodResource(method) }
}
