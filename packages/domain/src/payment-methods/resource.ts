// A payment method as clients see it (interface, sections 2.2 and 2.3). Never the provider's token or id of it.
import { type Static, Type } from 'typebox'
import { Nullable } from '../fields.ts'
import { BillingDetails, MethodDetails } from './events.ts'
import { detailsOf, type PaymentMethod } from './paymentMethod.ts'

const Text = Nullable(Type.String())

/** What a payment shows of its method. */
export const PaymentMethodSummary = Type.Object({
  id: Type.String(),
  ...MethodDetails.properties,
  alias: Text,
})
export type PaymentMethodSummary = Static<typeof PaymentMethodSummary>

export const PaymentMethodResource = Type.Object({
  ...PaymentMethodSummary.properties,
  type: Text,
  provider_id: Type.String(),
  /** Ours at the provider. */
  customer_id: Text,
  organization_id: Text,
  billing_address_id: Text,
  billing_details: Nullable(BillingDetails),
  is_default: Type.Boolean(),
  guest_email: Text,
  created_at: Type.String({ format: 'date-time' }),
  updated_at: Type.String({ format: 'date-time' }),
})
export type PaymentMethodResource = Static<typeof PaymentMethodResource>

export function paymentMethodSummary(method: PaymentMethod): PaymentMethodSummary {
  return { id: method.payment_method_id, ...detailsOf(method), alias: method.alias }
}

/** The answer to its owner, straight from its events. */
export function paymentMethodResource(method: PaymentMethod): PaymentMethodResource {
  return {
    ...paymentMethodSummary(method),
    type: method.type,
    provider_id: method.provider_id,
    customer_id: method.provider_customer_id,
    organization_id: method.organization_id,
    billing_address_id: method.billing_address_id,
    billing_details: method.billing_details,
    is_default: method.is_default,
    guest_email: method.guest_email,
    created_at: method.created_at,
    updated_at: method.updated_at,
  }
}
