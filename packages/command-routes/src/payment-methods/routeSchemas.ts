// Bodies, responses and OpenAPI descriptions of the payment method routes (interface, section 2.3).

import { exampleMethod } from '@paylog/domain/examples'
import { Nullable, RequiredText } from '@paylog/domain/fields'
import { PaymentMethodResource, paymentMethodResource } from '@paylog/domain/payment-methods/paymentMethod'
import { callerSecurity, dataResponse } from '@paylog/runtime/http/openApiSchemas'
import type { MethodOptions } from '@paylog/workflows/payment-methods/recordMethod'
import type { ShownMethod } from '@paylog/workflows/payment-methods/savedMethod'
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

/** An Authorize.Net token is the payer's encrypted form, some thousand characters; those of Stripe and PayPal are short ids. */
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
      description: "Issued by the provider's form in the frontend; sent to the provider and not stored",
    }),
    type: optionalText(),
    wallet_type: optionalText({ description: 'Used unless the provider reports one' }),
    provider_id: Type.Optional(RequiredText),
    customer_id: optionalText({ description: 'Ignored: Paylog manages the customer at the provider' }),
    organization_id: optionalText(),
    alias: optionalText(),
    billing_address_id: optionalText({ description: "The id of one of the caller's addresses" }),
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

/** All options, with `null` for omitted ones. */
export function methodOptionsOf(body: NewMethodBody): MethodOptions {
  return {
    type: body.type ?? null,
    wallet_type: body.wallet_type ?? null,
    organization_id: body.organization_id ?? null,
    alias: body.alias ?? null,
    // Ids are case-insensitive.
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
    "For a session, or a guest with a token. A user's method is attached to the user's customer at the provider, which is created with the first method; a guest's method is read but not attached. Brand, last four digits and expiry come from the provider. If its owner saves a method again, the existing method is returned, and only is_default: true takes effect. With an Idempotency-Key the request can be repeated safely.",
  headers: IdempotencyHeaders,
  body: NewMethodBody,
  response: {
    201: methodResponse(PaymentMethodResource, 'The method was saved'),
    200: methodResponse(PaymentMethodResource, 'The caller had already saved it'),
  },
}

export const changeSchema = {
  ...oneMethod,
  ...writeErrors(['not_found', 'precondition_failed']),
  operationId: 'updatePaymentMethod',
  summary: 'Update a payment method',
  description:
    'Changes the alias, and whether the method is the default: with is_default it replaces the previous one. Omitted fields stay as they are. With If-Match the method is changed only if the ETag still matches.',
  body: MethodChangeBody,
  response: {
    200: methodResponse(orIdOnly(PaymentMethodResource), 'The updated method', responseHeaders.changed),
  },
}

export const removeSchema = {
  ...oneMethod,
  ...writeErrors(['not_found', 'precondition_failed', ...providerErrors]),
  operationId: 'deletePaymentMethod',
  summary: 'Delete a payment method',
  description:
    "A user's method is first detached at the provider; if that fails, nothing is deleted. With If-Match the method is deleted only if the ETag still matches.",
  response: { 200: deletedResponse('The method was deleted') },
}

/** Builds the response from the stored method. */
export function replyWithMethod(
  reply: FastifyReply,
  { method, is_default, ...write }: ShownMethod & { readonly replayed?: boolean },
) {
  setWriteHeaders(reply, write)
  return { success: true as const, data: paymentMethodResource(method, is_default) }
}
