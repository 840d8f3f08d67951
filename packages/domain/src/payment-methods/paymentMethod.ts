// A payment method: its state, folded from its events, its commands, and its API resource.
import { type Static, Type } from 'typebox'
import { recordedOwner } from '../actor.ts'
import { DomainError } from '../errors.ts'
import type { Fold } from '../events.ts'
import { Nullable, pick } from '../fields.ts'
import { subjectNamed } from '../personalData.ts'
import { BillingDetails, MethodDetails, type PaymentMethodAdded, type PaymentMethodEvent } from './events.ts'

export type PaymentMethod = Omit<PaymentMethodAdded['data'], 'occurred_at'> & {
  readonly status: 'saved' | 'removed'
  readonly created_at: string
  readonly updated_at: string
}

export type PaymentMethodState = { readonly status: 'none' } | PaymentMethod

export const paymentMethodFold: Fold<PaymentMethodState, PaymentMethodEvent> = {
  initialState: Object.freeze({ status: 'none' }),
  evolve(state, event) {
    const updated_at = event.data.occurred_at
    if (event.type === 'PaymentMethodAdded') {
      const { occurred_at: created_at, ...added } = event.data
      return { ...added, status: 'saved', created_at, updated_at }
    }
    if (state.status === 'none') return state
    switch (event.type) {
      case 'PaymentMethodAliasChanged':
        return { ...state, updated_at, alias: event.data.alias }
      case 'PaymentMethodRefreshed':
        return { ...state, updated_at, ...detailsOf(event.data) }
      case 'PaymentMethodRemoved':
        return { ...state, updated_at, status: 'removed' }
    }
  },
  subjectOf: (state) => subjectNamed(state.status === 'none' ? null : recordedOwner(state)),
}

/** Picks the provider's details. */
export function detailsOf(from: MethodDetails): MethodDetails {
  return pick(MethodDetails, from)
}

export type AddPaymentMethod = PaymentMethodAdded['data']

/** Adds a method that is new or was removed. A saved one stays unchanged. */
export function addPaymentMethod(command: AddPaymentMethod, state: PaymentMethodState): PaymentMethodEvent[] {
  return state.status === 'saved' ? [] : [{ type: 'PaymentMethodAdded', data: command }]
}

export type ChangeAlias = { readonly occurred_at: string; readonly alias: string | null }

/** Changes the alias. The one that it already has is not recorded again. @throws DomainError `not_found` */
export function changeAlias({ occurred_at, alias }: ChangeAlias, state: PaymentMethodState): PaymentMethodEvent[] {
  const method = existingMethod(state)
  if (alias === method.alias) return []
  const { payment_method_id } = method
  return [{ type: 'PaymentMethodAliasChanged', data: { payment_method_id, occurred_at, alias } }]
}

/** Updates the provider's details. Details that are `null` now stay. */
export function refreshPaymentMethod(
  { occurred_at, details }: { readonly occurred_at: string; readonly details: MethodDetails },
  state: PaymentMethodState,
): PaymentMethodEvent[] {
  if (state.status !== 'saved') return []
  const current = detailsOf(state)
  const known = Object.entries(detailsOf(details)).filter(([, value]) => value !== null)
  const refreshed: MethodDetails = { ...current, ...Object.fromEntries(known) }
  if (JSON.stringify(refreshed) === JSON.stringify(current)) return []
  const { payment_method_id } = state
  return [{ type: 'PaymentMethodRefreshed', data: { payment_method_id, occurred_at, ...refreshed } }]
}

/** Removes a method. Removing it again records nothing. */
export function removePaymentMethod(
  { occurred_at, by }: { readonly occurred_at: string; readonly by: 'owner' | 'provider' },
  state: PaymentMethodState,
): PaymentMethodEvent[] {
  if (state.status !== 'saved') return []
  return [{ type: 'PaymentMethodRemoved', data: { payment_method_id: state.payment_method_id, occurred_at, by } }]
}

/** @throws DomainError `not_found` */
export function existingMethod(state: PaymentMethodState): PaymentMethod {
  if (state.status === 'saved') return state
  throw new DomainError('not_found', 'No payment method with this id')
}

const Text = Nullable(Type.String())

/** The method of a payment in API responses. */
export const PaymentMethodSummary = Type.Object(
  {
    id: Type.String(),
    ...MethodDetails.properties,
    alias: Text,
  },
  { title: 'PaymentMethodSummary' },
)
export type PaymentMethodSummary = Static<typeof PaymentMethodSummary>

/** A method in API responses (interface, sections 2.2 and 2.3). Must not contain the provider's token or method id. */
export const PaymentMethodResource = Type.Object(
  {
    ...PaymentMethodSummary.properties,
    type: Text,
    provider_id: Type.String(),
    /** The owner's customer id at the provider. */
    customer_id: Text,
    organization_id: Text,
    billing_address_id: Text,
    billing_details: Nullable(BillingDetails),
    is_default: Type.Boolean(),
    guest_email: Text,
    created_at: Type.String({ format: 'date-time' }),
    updated_at: Type.String({ format: 'date-time' }),
  },
  { title: 'PaymentMethod' },
)
export type PaymentMethodResource = Static<typeof PaymentMethodResource>

export function paymentMethodSummary(method: PaymentMethod): PaymentMethodSummary {
  return pick(PaymentMethodSummary, { ...method, id: method.payment_method_id })
}

export function paymentMethodResource(method: PaymentMethod, is_default: boolean): PaymentMethodResource {
  const { payment_method_id: id, provider_customer_id: customer_id } = method
  return pick(PaymentMethodResource, { ...method, id, customer_id, is_default })
}
