// What the routes of payment methods take and answer, and what their documentation says.
import { exampleMethod } from '@paylog/domain/examples'
import { PaymentMethodResource, paymentMethodResource } from '@paylog/domain/payment-methods/resource'
import { callerSecurity, dataResponse } from '@paylog/runtime/http/openApiParts'
import type { StoredMethod } from '@paylog/workflows/payment-methods/ownedMethod'
import type { FastifyReply } from 'fastify'
import { type TSchema, Type } from 'typebox'
import {
  responseHeaders,
  deletedResponse,
  idempotencyErrors,
  setWriteHeaders,
  orIdOnly,
  providerErrors,
  replayedHeader,
  writeErrors,
} from '../answers.ts'
import { IdempotencyHeaders } from '../idempotency.ts'
import { IfMatchHeaders } from '../ifMatch.ts'
import { MethodChangeBody, NewMethodBody } from './methodBodies.ts'

const example = { success: true, data: exampleMethod }

const methodResponse = <Data extends TSchema>(
  data: Data,
  description: string,
  headers: object = responseHeaders.created,
) => dataResponse(data, { description, headers, examples: [example] })

const common = { tags: ['payment methods'], security: callerSecurity }
const oneMethod = {
  ...common,
  params: Type.Object({ id: Type.String({ description: 'The id of the payment method' }) }),
  headers: IfMatchHeaders,
}

export const saveSchema = {
  ...common,
  ...writeErrors([...providerErrors, ...idempotencyErrors, 'reference_not_found'], { 402: replayedHeader }),
  operationId: 'createPaymentMethod',
  summary: 'Save a payment method',
  description:
    "For a session, or for a guest with a token. A user's method is attached to the user's customer at the provider, which is made with the first method; a guest's is read and attached to nobody. Brand, last four digits and expiry are the provider's. Saved again by its owner, the method is answered as it is; only is_default: true is still heeded. With an Idempotency-Key the request can be repeated safely.",
  headers: IdempotencyHeaders,
  body: NewMethodBody,
  response: {
    201: methodResponse(PaymentMethodResource, 'The method was saved'),
    200: methodResponse(PaymentMethodResource, 'The caller had saved it before'),
  },
}

export const changeSchema = {
  ...oneMethod,
  ...writeErrors(['not_found', 'precondition_failed']),
  operationId: 'updatePaymentMethod',
  summary: 'Update a payment method',
  description:
    'Its alias, and whether it is the default: with is_default it takes the place of the former one. What is left out stays. With If-Match it is changed only as the client has seen it.',
  body: MethodChangeBody,
  response: {
    200: methodResponse(orIdOnly(PaymentMethodResource), 'The method as it is now', responseHeaders.changed),
  },
}

export const removeSchema = {
  ...oneMethod,
  ...writeErrors(['not_found', 'precondition_failed', ...providerErrors]),
  operationId: 'deletePaymentMethod',
  summary: 'Delete a payment method',
  description:
    "A user's method is detached at the provider first; when that cannot be done, nothing is removed. With If-Match it is deleted only as the client has seen it.",
  response: { 200: deletedResponse('The method is gone') },
}

/** Answers with a method as its stream tells it. */
export function replyWithMethod(
  reply: FastifyReply,
  { method, ...write }: StoredMethod & { readonly replayed?: boolean },
) {
  setWriteHeaders(reply, write)
  return { success: true as const, data: paymentMethodResource(method) }
}
