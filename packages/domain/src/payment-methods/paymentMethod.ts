// A payment method: its state, folded from its events, its commands, and its API resource.
import { type Static, Type } from 'typebox'
import { isNewChoice } from '../defaultChoice.ts'
import { DomainError } from '../errors.ts'
import type { Fold } from '../events.ts'
import { Nullable } from '../fields.ts'
import { requestRules } from '../idempotentRequest.ts'
import {
  BillingDetails,
  MethodDetails,
  type MethodRequestEvent,
  type PaymentMethodAdded,
  type PaymentMethodEvent,
} from './events.ts'

export type PaymentMethod = Omit<PaymentMethodAdded['data'], 'occurred_at' | 'default_choice'> & {
  readonly status: 'saved' | 'removed'
  readonly is_default: boolean
  /** The latest choice that made it the default; kept when it no longer is. */
  readonly default_choice: number | null
  readonly created_at: string
  readonly updated_at: string
}

export type PaymentMethodState = { readonly status: 'none' } | PaymentMethod

export const paymentMethodFold: Fold<PaymentMethodState, PaymentMethodEvent> = {
  initialState: Object.freeze({ status: 'none' }),
  evolve(state, event) {
    if (event.type === 'PaymentMethodAdded') return added(event)
    return state.status === 'none' ? state : evolved(state, event)
  },
}

function added({ data: { occurred_at, ...rest } }: PaymentMethodAdded): PaymentMethod {
  const is_default = rest.default_choice !== null
  return { ...rest, status: 'saved', is_default, created_at: occurred_at, updated_at: occurred_at }
}

function evolved(method: PaymentMethod, event: Exclude<PaymentMethodEvent, PaymentMethodAdded>): PaymentMethod {
  const updated_at = event.data.occurred_at
  switch (event.type) {
    case 'PaymentMethodAliasChanged':
      return { ...method, updated_at, alias: event.data.alias }
    case 'PaymentMethodMadeDefault':
      return { ...method, updated_at, is_default: true, default_choice: event.data.default_choice }
    case 'PaymentMethodDefaultCleared':
      return { ...method, updated_at, is_default: false }
    case 'PaymentMethodRefreshed':
      return { ...method, updated_at, ...detailsOf(event.data) }
    case 'PaymentMethodRemoved':
      return { ...method, updated_at, status: 'removed', is_default: false }
  }
}

/** Picks the provider's details. */
export function detailsOf(from: MethodDetails): MethodDetails {
  const { payment_type, wallet_type, card_brand, last_four, expiry_month, expiry_year } = from
  return { payment_type, wallet_type, card_brand, last_four, expiry_month, expiry_year }
}

export type AddPaymentMethod = PaymentMethodAdded['data']

/** Adds a method that is new or was removed. A saved one stays unchanged. */
export function addPaymentMethod(command: AddPaymentMethod, state: PaymentMethodState): PaymentMethodEvent[] {
  return state.status === 'saved' ? [] : [{ type: 'PaymentMethodAdded', data: command }]
}

export type ChangePaymentMethod = {
  readonly occurred_at: string
  /** Undefined changes nothing. */
  readonly alias?: string | null
  /** A choice makes it the default, `null` clears the default, undefined changes nothing. */
  readonly default_choice?: number | null
}

/** Changes a method. Values that it already has are not recorded again. @throws DomainError `not_found` */
export function changePaymentMethod(command: ChangePaymentMethod, state: PaymentMethodState): PaymentMethodEvent[] {
  const method = existingMethod(state)
  const { occurred_at, alias, default_choice } = command
  const facts = { payment_method_id: method.payment_method_id, occurred_at }
  const events: PaymentMethodEvent[] = []
  if (alias !== undefined && alias !== method.alias)
    events.push({ type: 'PaymentMethodAliasChanged', data: { ...facts, alias } })
  if (typeof default_choice === 'number' && isNewChoice(default_choice, method))
    events.push({ type: 'PaymentMethodMadeDefault', data: { ...facts, default_choice } })
  if (default_choice === null) events.push(...clearDefaultMethod({ occurred_at }, method))
  return events
}

/** Clears the default, because the owner cleared it or chose another method. */
export function clearDefaultMethod(
  { occurred_at }: { readonly occurred_at: string },
  state: PaymentMethodState,
): PaymentMethodEvent[] {
  if (state.status !== 'saved' || !state.is_default) return []
  const { payment_method_id } = state
  return [{ type: 'PaymentMethodDefaultCleared', data: { payment_method_id, occurred_at } }]
}

/** Updates the provider's details. Details that are `null` now stay. */
export function refreshPaymentMethod(
  { occurred_at, details }: { readonly occurred_at: string; readonly details: MethodDetails },
  state: PaymentMethodState,
): PaymentMethodEvent[] {
  if (state.status !== 'saved') return []
  const current = detailsOf(state)
  const refreshed: MethodDetails = {
    payment_type: details.payment_type ?? current.payment_type,
    wallet_type: details.wallet_type ?? current.wallet_type,
    card_brand: details.card_brand ?? current.card_brand,
    last_four: details.last_four ?? current.last_four,
    expiry_month: details.expiry_month ?? current.expiry_month,
    expiry_year: details.expiry_year ?? current.expiry_year,
  }
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
export const PaymentMethodSummary = Type.Object({
  id: Type.String(),
  ...MethodDetails.properties,
  alias: Text,
})
export type PaymentMethodSummary = Static<typeof PaymentMethodSummary>

/** A method in API responses (interface, sections 2.2 and 2.3). Must not contain the provider's token or method id. */
export const PaymentMethodResource = Type.Object({
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
})
export type PaymentMethodResource = Static<typeof PaymentMethodResource>

export function paymentMethodSummary(method: PaymentMethod): PaymentMethodSummary {
  return { id: method.payment_method_id, ...detailsOf(method), alias: method.alias }
}

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

type RequestAnswered = Extract<MethodRequestEvent, { type: 'PaymentMethodRequestAnswered' }>['data']

/** The result of a request to save a method, which a repeated request gets as well. */
export type RecordedResponse = Exclude<RequestAnswered['answer'], { kind: 'failed' }>

/** Longer than a request with all its provider calls takes. */
export const methodRequestInFlightMs = 20_000

export const methodRequestRules = requestRules<RecordedResponse, MethodRequestEvent>({
  begun: (data) => ({ type: 'PaymentMethodRequested', data }),
  ended: (data) => ({ type: 'PaymentMethodRequestAnswered', data }),
})
