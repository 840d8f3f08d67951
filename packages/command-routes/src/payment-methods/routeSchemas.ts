// What a client sends of a payment method (interface, section 2.3), and what it says.

import { exampleMethod } from '@paylog/domain/examples'
import { Nullable, RequiredText } from '@paylog/domain/fields'
import { PaymentMethodResource, paymentMethodResource } from '@paylog/domain/payment-methods/paymentMethod'
import { callerSecurity, dataResponse } from '@paylog/runtime/http/openApiSchemas'
import type { MethodOptions } from '@paylog/workflows/payment-methods/recordMethod'
import type { StoredMethod } from '@paylog/workflows/payment-methods/savedMethod'
import type { FastifyReply } from 'fastify'
import { type Static, type TSchema, Type } from 'typebox'
import { IdempotencyHeaders } from '../idempotency.ts'
import { IfMatchHeaders } from '../ifMatch.ts'
import { optionalEmail, optionalText } from '../requestBody.ts'
import {
  deletedResponse,
  idempotencyErrors,
  orIdOnly,
  providerErrors,
  replayedHeader,
  responseHeaders,
  setWriteHeaders,
  writeErrors,
} from '../responses.ts'

/** A token of Authorize.Net's is the payer's whole encrypted form, some thousand characters; Stripe's and PayPal's are ids. */
const maxTokenLength = 8_000

const BillingDetailsBody = Type.Object({
  name: optionalText(),
  email: optionalEmail(),
  phone: optionalText(),
  address: Type.Optional(
    Nullable(
      Type.Object({
        line1: optionalText(),
        line2: optionalText(),
        city: optionalText(),
        state: optionalText(),
        postal_code: optionalText(),
        country: optionalText(),
      }),
    ),
  ),
})

export const NewMethodBody = Type.Object(
  {
    payment_method_token: Type.String({
      minLength: 1,
      maxLength: maxTokenLength,
      description: "What the provider's form handed to the frontend; it is passed on and not kept",
    }),
    type: optionalText(),
    wallet_type: optionalText({ description: 'Kept unless the provider tells one' }),
    provider_id: Type.Optional(RequiredText),
    customer_id: optionalText({ description: 'Ignored: the customer at the provider is ours' }),
    organization_id: optionalText(),
    alias: optionalText(),
    billing_address_id: optionalText({ description: "The id of an address of the caller's" }),
    billing_details: Type.Optional(Nullable(BillingDetailsBody)),
    is_default: Type.Optional(Type.Boolean()),
  },
  {
    examples: [
      { payment_method_token: 'pm_card_visa', provider_id: 'sandbox' },
      {
        payment_method_token: 'pm_card_mastercard',
        type: 'card',
        provider_id: 'sandbox',
        alias: 'Everyday card',
        billing_details: {
          name: 'Ada Example',
          email: 'ada@example.com',
          phone: '+49 30 000000',
          address: { line1: '1 Sample Street', city: 'Berlin', postal_code: '10115', country: 'DE' },
        },
        is_default: true,
      },
    ],
  },
)
export type NewMethodBody = Static<typeof NewMethodBody>

const MethodChangeBody = Type.Object(
  {
    alias: optionalText({ description: 'null clears it' }),
    is_default: Type.Optional(Type.Boolean()),
  },
  { minProperties: 1, examples: [{ alias: 'Everyday card', is_default: true }, { alias: null }] },
)

/** Everything that is kept, with `null` for what was not said. */
export function methodOptionsOf(body: NewMethodBody): MethodOptions {
  return {
    type: body.type ?? null,
    wallet_type: body.wallet_type ?? null,
    organization_id: body.organization_id ?? null,
    alias: body.alias ?? null,
    // An id has no case.
    billing_address_id: body.billing_address_id?.toLowerCase() ?? null,
    billing_details: body.billing_details ? billingDetailsOf(body.billing_details) : null,
    is_default: body.is_default ?? false,
  }
}

function billingDetailsOf({ name, email, phone, address }: Static<typeof BillingDetailsBody>) {
  return {
    name: name ?? null,
    email: email ?? null,
    phone: phone ?? null,
    address: address
      ? {
          line1: address.line1 ?? null,
          line2: address.line2 ?? null,
          city: address.city ?? null,
          state: address.state ?? null,
          postal_code: address.postal_code ?? null,
          country: address.country ?? null,
        }
      : null,
  }
}

// What the routes of payment methods take and answer, and what their documentation says.

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
