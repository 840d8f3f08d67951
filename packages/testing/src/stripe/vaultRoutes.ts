// The fake Stripe's routes for customers, payment methods and setup intents.

import { type Card, type CardChange, customerBody, methodBody, type StripeMethod, setupIntentBody } from './bodies.ts'
import { invalid, noSuch } from './errors.ts'
import type { StripeEvent } from './events.ts'
import { textIn } from './params.ts'
import { existing, found, type Route, type RouteCall, route, type StripeState } from './state.ts'

/** The shared test methods and tokens; each use creates a new method. */
const testCards: ReadonlyMap<string, Card> = new Map([
  ['visa', { brand: 'visa', last4: '4242' }],
  ['mastercard', { brand: 'mastercard', last4: '4444' }],
  ['amex', { brand: 'amex', last4: '8431' }],
])
const testMethod = (id: string) => (id.startsWith('pm_card_') ? testCards.get(id.slice('pm_card_'.length)) : undefined)
const testToken = (id: string) => (id.startsWith('tok_') ? testCards.get(id.slice('tok_'.length)) : undefined)

export const vaultRoutes: readonly Route[] = [
  route('POST customers', { email: 'text', name: 'text', metadata: 'texts' }, createCustomer),
  route('GET customers/:id', {}, ({ state, id }) => found(state.customers, 'customer', id)),
  route('DELETE customers/:id', {}, ({ state, id, key }) => {
    found(state.customers, 'customer', id, 'id')
    deleteCustomer(state, id, key)
    return { id, object: 'customer', deleted: true }
  }),
  route('POST payment_methods', { type: ['required', 'text'], card: { token: ['required', 'text'] } }, createMethod),
  route('GET payment_methods/:id', {}, ({ state, id }) => methodAt(state, id)),
  route('POST payment_methods/:id/attach', { customer: ['required', 'text'] }, attach),
  route('POST payment_methods/:id/detach', {}, detach),
  route(
    'POST setup_intents',
    {
      automatic_payment_methods: { enabled: ['required', 'boolean'], allow_redirects: 'text' },
      customer: 'text',
      metadata: 'texts',
      payment_method: 'text',
      usage: 'text',
    },
    createSetupIntent,
  ),
]

function createCustomer({ state, values, key }: RouteCall) {
  const customer = customerBody({ email: textIn(values, 'email'), name: textIn(values, 'name') }, state.seconds())
  state.customers.set(customer.id, customer)
  state.recordEvent('customer.created', customer, { key })
  return customer
}

/** Methods stay unchanged and get no event. @param key of the call; `null` for the merchant in the Dashboard */
export function deleteCustomer(state: StripeState, id: string, key: string | null): StripeEvent {
  const customer = existing(state.customers, id)
  state.customers.delete(id)
  return state.recordEvent('customer.deleted', customer, { key })
}

function createMethod({ state, values }: RouteCall): StripeMethod {
  if (textIn(values, 'type') !== 'card') throw invalid(undefined, 'Invalid type', 'type')
  const card = typeof values.card === 'object' ? values.card : {}
  const id = textIn(card, 'token') ?? ''
  const test = testToken(id)
  const token = state.tokens.get(id)
  if (!test && !token) throw noSuch('token', id, 'card[token]', 400)
  if (token?.used) throw invalid('token_already_used', 'You cannot use a Stripe token more than once.')
  if (token) token.used = true
  return addMethod(state, test ?? token?.card ?? {})
}

export function addMethod(state: StripeState, card: Card): StripeMethod {
  const method = methodBody(card, state.seconds())
  state.methods.set(method.id, method)
  return method
}

function attach({ state, id, values, key }: RouteCall): StripeMethod {
  const customer = textIn(values, 'customer') ?? ''
  if (!state.customers.has(customer)) throw noSuch('customer', customer, 'customer', 400)
  const method = methodAt(state, id)
  if (method.customer !== null)
    throw invalid(undefined, 'The payment method you provided has already been attached to a customer.')
  if (state.detachedMethods.has(method.id)) throw invalid(undefined, 'This PaymentMethod may not be used again.')
  method.customer = customer
  state.recordEvent('payment_method.attached', method, { key })
  return method
}

function detach({ state, id, key }: RouteCall): StripeMethod {
  const method = methodAt(state, id)
  if (method.customer === null)
    throw invalid(
      undefined,
      'The payment method you provided is not attached to a customer so detachment is impossible.',
    )
  detachMethod(state, method, key)
  return method
}

/** @param key of the call; `null` for a change by the merchant in the Dashboard */
export function detachMethod(state: StripeState, method: StripeMethod, key: string | null): StripeEvent {
  const previous = { customer: method.customer }
  method.customer = null
  state.detachedMethods.add(method.id)
  return state.recordEvent('payment_method.detached', method, { previous, key })
}

/** The bank replaces the card. */
export function changeCard(state: StripeState, method: StripeMethod, card: CardChange): StripeEvent {
  const before = Object.entries(method.card).filter(([field]) => field in card)
  Object.assign(method.card, card)
  const previous = { card: Object.fromEntries(before) }
  return state.recordEvent('payment_method.automatically_updated', method, { previous })
}

function createSetupIntent({ state, values, key }: RouteCall) {
  const customer = textIn(values, 'customer')
  if (customer !== null && !state.customers.has(customer)) throw noSuch('customer', customer, 'customer', 400)
  const intent = setupIntentBody(customer, textIn(values, 'usage') ?? 'off_session', state.seconds())
  state.setupIntents.set(intent.id, intent)
  state.recordEvent('setup_intent.created', intent, { key })
  return intent
}

/** The payer's device confirms a setup intent. @returns the resulting events */
export function confirmSetup(state: StripeState, setupIntentId: string, methodId: string): StripeEvent[] {
  const intent = existing(state.setupIntents, setupIntentId)
  const method = existing(state.methods, methodId)
  const before = state.events.length
  if (intent.customer !== null) {
    method.customer = intent.customer
    state.recordEvent('payment_method.attached', method)
  }
  state.recordEvent('setup_intent.succeeded', { ...intent, payment_method: methodId, status: 'succeeded' })
  return state.events.slice(before)
}

/** A method for an intent: an attached method can be used only with its customer. */
export function usableMethod(state: StripeState, id: string, customer: string | null): StripeMethod {
  const test = testMethod(id)
  if (test) return addMethod(state, test)
  const method = state.methods.get(id)
  if (!method) throw noSuch('PaymentMethod', id, 'payment_method', 400)
  if (method.customer !== customer)
    throw invalid(undefined, 'The PaymentMethod belongs to a customer; you must pass its ID too.', 'payment_method')
  return method
}

function methodAt(state: StripeState, id: string): StripeMethod {
  const test = testMethod(id)
  return test ? addMethod(state, test) : found(state.methods, 'PaymentMethod', id, 'payment_method')
}
