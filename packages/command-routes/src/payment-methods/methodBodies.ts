// What a client sends of a payment method (interface, section 2.3), and what it says.
import { Nullable, RequiredText } from '@paylog/domain/fields'
import type { MethodOptions } from '@paylog/workflows/payment-methods/recordMethod'
import { type Static, Type } from 'typebox'
import { optionalEmail, optionalText } from '../bodyFields.ts'

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

export const MethodChangeBody = Type.Object(
  {
    alias: optionalText({ description: 'null clears it' }),
    is_default: Type.Optional(Type.Boolean()),
  },
  { minProperties: 1, examples: [{ alias: 'Everyday card', is_default: true }, { alias: null }] },
)
export type MethodChangeBody = Static<typeof MethodChangeBody>

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
