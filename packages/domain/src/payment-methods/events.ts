// Everything that can happen to a saved payment method, as recorded facts.
import { type Static, Type } from 'typebox'
import { DefaultChoice } from '../defaultChoice.ts'
import type { EventsOf } from '../events.ts'
import { Id, Instant, Nullable } from '../fields.ts'
import { RequestBegun, requestEnded } from '../idempotentRequest.ts'

const Text = Nullable(Type.String())

/** What the provider tells of a method. What it does not tell is `null`. */
export const MethodDetails = Type.Object({
  /** The provider's own word: `card`, `paypal`, … */
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

export const BillingDetails = Type.Object({
  name: Text,
  email: Text,
  phone: Text,
  address: Nullable(
    Type.Object({ line1: Text, line2: Text, city: Text, state: Text, postal_code: Text, country: Text }),
  ),
})
export type BillingDetails = Static<typeof BillingDetails>

/** What every event of a method repeats. */
const facts = { payment_method_id: Id, occurred_at: Instant }

export const paymentMethodEvents = {
  /** A method that was removed may be added again; it then begins anew. */
  PaymentMethodAdded: Type.Object({
    ...facts,
    /** The user that it belongs to; null for a guest's. */
    user_id: Text,
    /** The guest that it belongs to; null for a user's. */
    guest_email: Text,
    provider_id: Type.String(),
    provider_method_id: Type.String(),
    /** Null for a guest's method, which is attached to nobody. */
    provider_customer_id: Text,
    ...MethodDetails.properties,
    /** The client's own word. */
    type: Text,
    alias: Text,
    organization_id: Text,
    billing_address_id: Text,
    billing_details: Nullable(BillingDetails),
    default_choice: Nullable(DefaultChoice),
  }),
  PaymentMethodAliasChanged: Type.Object({ ...facts, alias: Text }),
  PaymentMethodMadeDefault: Type.Object({ ...facts, default_choice: DefaultChoice }),
  PaymentMethodDefaultCleared: Type.Object(facts),
  /** The provider tells other details than before. */
  PaymentMethodRefreshed: Type.Object({ ...facts, ...MethodDetails.properties }),
  PaymentMethodRemoved: Type.Object({
    ...facts,
    /** `provider`: it was detached there, and nobody asked us. */
    by: Type.Union([Type.Literal('owner'), Type.Literal('provider')]),
  }),
}
export type PaymentMethodEvent = EventsOf<typeof paymentMethodEvents>
export type PaymentMethodAdded = Extract<PaymentMethodEvent, { type: 'PaymentMethodAdded' }>

export const methodRequestEvents = {
  /** A request with an Idempotency-Key, about to ask the provider. */
  PaymentMethodRequested: RequestBegun,
  PaymentMethodRequestAnswered: requestEnded(
    Type.Union([
      Type.Object({
        kind: Type.Literal('saved'),
        payment_method_id: Id,
        /** Of the method's stream: the answer showed the method as it was then. */
        revision: Type.Integer(),
        /** False when the owner had saved it before. */
        created: Type.Boolean(),
      }),
      Type.Object({ kind: Type.Literal('declined'), message: Type.String() }),
    ]),
  ),
}
export type MethodRequestEvent = EventsOf<typeof methodRequestEvents>
