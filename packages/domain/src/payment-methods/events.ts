// The events of a saved payment method.
import { type Static, Type } from 'typebox'
import type { EventsOf } from '../events.ts'
import { fieldsOf, Id, Instant, Nullable } from '../fields.ts'
import { OwnerEvent, PersonalText, Sealed } from '../personalData.ts'

const Text = Nullable(Type.String())

/** The provider's details of a method; `null` where it gives none. */
export const MethodDetails = Type.Object({
  /** The provider's name: `card`, `paypal`, … */
  payment_type: Text,
  wallet_type: Text,
  card_brand: Text,
  last_four: Text,
  /** Two digits. */
  expiry_month: Text,
  /** Four digits. */
  expiry_year: Text,
})
export type MethodDetails = Static<typeof MethodDetails>

export const billingFields = ['name', 'email', 'phone'] as const
export const billingAddressFields = ['line1', 'line2', 'city', 'state', 'postal_code', 'country'] as const

export const BillingDetails = Type.Object(
  {
    ...fieldsOf(billingFields, () => Text),
    address: Nullable(Type.Object(fieldsOf(billingAddressFields, () => Text))),
  },
  { title: 'BillingDetails' },
)
export type BillingDetails = Static<typeof BillingDetails>

/** The card itself is sealed, and so is the wallet, which clients may name freely. The kind of the method is not. */
const recordedDetails = {
  ...MethodDetails.properties,
  ...fieldsOf(['wallet_type', 'last_four', 'expiry_month', 'expiry_year'], () => PersonalText),
}

/** Fields of every event of a method. */
const facts = { payment_method_id: Id, occurred_at: Instant }

export const paymentMethodEvents = {
  /** A removed method may be added again; its state then starts over. */
  PaymentMethodAdded: OwnerEvent({
    ...facts,
    /** The owner; null for a guest's method. */
    user_id: Text,
    /** The owner; null for a user's method. */
    guest_email: PersonalText,
    provider_id: Type.String(),
    provider_method_id: Type.String(),
    /** Null for a guest's method, which is attached to no customer. */
    provider_customer_id: Text,
    ...recordedDetails,
    /** Free text from the client. */
    type: PersonalText,
    alias: PersonalText,
    organization_id: PersonalText,
    billing_address_id: Text,
    billing_details: Sealed('personal', BillingDetails),
  }),
  PaymentMethodAliasChanged: Type.Object({ ...facts, alias: PersonalText }),
  /** The provider's details have changed. */
  PaymentMethodRefreshed: Type.Object({ ...facts, ...recordedDetails }),
  PaymentMethodRemoved: Type.Object({
    ...facts,
    /** `provider`: it was detached at the provider, not through us. */
    by: Type.Union([Type.Literal('owner'), Type.Literal('provider')]),
  }),
}
export type PaymentMethodEvent = EventsOf<typeof paymentMethodEvents>
export type PaymentMethodAdded = Extract<PaymentMethodEvent, { type: 'PaymentMethodAdded' }>
