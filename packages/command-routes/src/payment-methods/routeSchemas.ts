// What the routes of payment methods take and answer, and what their documentation says.
import { exampleMethod } from '@paylog/domain/examples'
import { PaymentMethodResource, paymentMethodResource } from '@paylog/domain/payment-methods/resource'
import { callerSecurity, dataAnswer } from '@paylog/runtime/http/openApiParts'
import type { MethodOnRecord } from '@paylog/workflows/payment-methods/ownedMethod'
import type { FastifyReply } from 'fastify'
import { type TSchema, Type } from 'typebox'
import {
  answerHeaders,
  deletedAnswer,
  keyRefusals,
  markAnswer,
  orIdAlone,
  providerRefusals,
  replayedHeader,
  writeRefusals,
} from '../answers.ts'
import { IdempotencyHeaders } from '../idempotency.ts'
import { IfMatchHeaders } from '../ifMatch.ts'
import { MethodChangeBody, NewMethodBody } from './methodBodies.ts'

const example = { success: true, data: exampleMethod }

const methodAnswer = <Data extends TSchema>(data: Data, description: string, headers: object = answerHeaders.created) =>
  dataAnswer(data, { description, headers, examples: [example] })

const common = { tags: ['payment methods'], security: callerSecurity }
const oneMethod = {
  ...common,
  params: Type.Object({ id: Type.String({ description: 'The id of the payment method' }) }),
  headers: IfMatchHeaders,
}

export const saveSchema = {
  ...common,
  ...writeRefusals([...providerRefusals, ...keyRefusals, 'reference_not_found'], { 402: replayedHeader }),
  operationId: 'createPaymentMethod',
  summary: 'Save a payment method',
  description:
    "For a session, or for a guest with a token. A user's method is attached to the user's customer at the provider, which is made with the first method; a guest's is read and attached to nobody. Brand, last four digits and expiry are the provider's. Saved again by its owner, the method is answered as it is; only is_default: true is still heeded. With an Idempotency-Key the request can be repeated safely.",
  headers: IdempotencyHeaders,
  body: NewMethodBody,
  response: {
    201: methodAnswer(PaymentMethodResource, 'The method was saved'),
    200: methodAnswer(PaymentMethodResource, 'The caller had saved it before'),
  },
}

export const changeSchema = {
  ...oneMethod,
  ...writeRefusals(['not_found', 'precondition_failed']),
  operationId: 'updatePaymentMethod',
  summary: 'Update a payment method',
  description:
    'Its alias, and whether it is the default: with is_default it takes the place of the former one. What is left out stays. With If-Match it is changed only as the client has seen it.',
  body: MethodChangeBody,
  response: { 200: methodAnswer(orIdAlone(PaymentMethodResource), 'The method as it is now', answerHeaders.changed) },
}

export const removeSchema = {
  ...oneMethod,
  ...writeRefusals(['not_found', 'precondition_failed', ...providerRefusals]),
  operationId: 'deletePaymentMethod',
  summary: 'Delete a payment method',
  description:
    "A user's method is detached at the provider first; when that cannot be done, nothing is removed. With If-Match it is deleted only as the client has seen it.",
  response: { 200: deletedAnswer('The method is gone') },
}

/** Answers with a method as its stream tells it. */
export function answerMethod(
  reply: FastifyReply,
  { method, ...write }: MethodOnRecord & { readonly replayed?: boolean },
) {
  markAnswer(reply, write)
  return { success: true as const, data: paymentMethodResource(method) }
}
