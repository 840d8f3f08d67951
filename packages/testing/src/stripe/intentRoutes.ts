// The fake Stripe's routes for payment intents.

import { invalid, noSuch, StripeApiError } from './errors.ts'
import { checkCharge, expansionsIn, numberIn, textIn, type Values } from './params.ts'
import { cancel as cancelNow, capture as captureNow, declined } from './payer.ts'
import { intentBody, type NewIntent, type StripeIntent } from './paymentBodies.ts'
import { withRefunds } from './refundRoutes.ts'
import { found, type Route, type RouteCall, route, type StripeState } from './state.ts'
import { usableMethod } from './vaultRoutes.ts'

/** The test method that is declined when an intent is created. Stripe itself declines it at confirmation. */
const declinedMethod = 'pm_card_chargeDeclined'

export const intentRoutes: readonly Route[] = [
  route(
    'POST payment_intents',
    {
      amount: ['required', 'integer'],
      currency: ['required', 'text'],
      automatic_payment_methods: { enabled: ['required', 'boolean'], allow_redirects: 'text' },
      capture_method: 'text',
      customer: 'text',
      description: 'text',
      metadata: 'texts',
      payment_method: 'text',
      receipt_email: 'text',
      statement_descriptor_suffix: 'text',
    },
    create,
  ),
  route('GET payment_intents/search', { query: ['required', 'text'], limit: 'integer', page: 'text' }, search),
  route('GET payment_intents/:id', { expand: 'texts' }, retrieve),
  route('POST payment_intents/:id/cancel', { cancellation_reason: 'text' }, cancel),
  route('POST payment_intents/:id/capture', { amount_to_capture: 'integer' }, capture),
]

function create({ state, values, key }: RouteCall): StripeIntent {
  const amount = numberIn(values, 'amount') ?? 0
  const currency = (textIn(values, 'currency') ?? '').toLowerCase()
  checkCharge(amount, currency)
  const customer = textIn(values, 'customer')
  if (customer !== null && !state.customers.has(customer)) throw noSuch('customer', customer, 'customer', 400)
  const requested = textIn(values, 'payment_method')
  if (requested === declinedMethod) throw new StripeApiError(402, { ...declined })
  const method = requested === null ? null : usableMethod(state, requested, customer)
  const capture_method = captureMethod(values)
  const payment_method = method?.id ?? null
  const intent = intentBody(
    { ...(values as Partial<NewIntent>), amount, currency, payment_method, capture_method },
    state.seconds(),
  )
  state.intents.set(intent.id, intent)
  state.recordEvent('payment_intent.created', intent, { key })
  return intent
}

function captureMethod(values: Values): string {
  const method = textIn(values, 'capture_method') ?? 'automatic_async'
  if (!['automatic', 'automatic_async', 'manual'].includes(method))
    throw invalid(undefined, `Invalid capture_method: ${method}`, 'capture_method')
  const suffix = textIn(values, 'statement_descriptor_suffix')
  if (suffix !== null && (suffix.length > 22 || /[<>\\'"*]/.test(suffix)))
    throw invalid('invalid_characters', 'The statement descriptor is not valid', 'statement_descriptor_suffix')
  return method
}

function retrieve({ state, id, values }: RouteCall): object {
  const intent = intentAt(state, id)
  const expand = expansionsIn(values, ['latest_charge', 'latest_charge.refunds'])
  const charge = expand.length > 0 ? state.charges.get(intent.latest_charge ?? '') : undefined
  if (!charge) return intent
  const latest_charge = expand.includes('latest_charge.refunds') ? withRefunds(state, charge) : charge
  return { ...intent, latest_charge }
}

function search({ state, values }: RouteCall) {
  const query = textIn(values, 'query') ?? ''
  const [, name, value] = /^metadata\['(\w+)'\]:'([^'"]*)'$/.exec(query) ?? []
  if (name === undefined) throw invalid(undefined, `We were unable to parse your search query: ${query}`, 'query')
  const matching = [...state.intents.values()].filter(
    ({ id, metadata }) => metadata[name] === value && (state.searchable?.has(id) ?? true),
  )
  const [from, limit] = [Number(textIn(values, 'page') ?? '0'), numberIn(values, 'limit') ?? 10]
  const until = from + limit
  return {
    object: 'search_result',
    data: matching.slice(from, until),
    has_more: until < matching.length,
    next_page: until < matching.length ? String(until) : null,
    url: '/v1/payment_intents/search',
  }
}

function cancel({ state, id, values, key }: RouteCall): StripeIntent {
  const intent = intentAt(state, id)
  if (['succeeded', 'canceled', 'processing'].includes(intent.status)) throw unexpectedState(intent)
  cancelNow(state, intent, { reason: textIn(values, 'cancellation_reason'), key })
  return intent
}

function capture({ state, id, values, key }: RouteCall): StripeIntent {
  const intent = intentAt(state, id)
  if (intent.status !== 'requires_capture') throw unexpectedState(intent)
  const amount = numberIn(values, 'amount_to_capture') ?? intent.amount_capturable
  if (amount < 1) throw invalid('parameter_invalid_integer', 'Invalid positive integer', 'amount_to_capture')
  if (amount > intent.amount_capturable)
    throw invalid('amount_too_large', 'The amount is greater than the capturable one.', 'amount_to_capture')
  captureNow(state, intent, { amount, key })
  return intent
}

function unexpectedState(intent: StripeIntent): StripeApiError {
  return new StripeApiError(400, {
    type: 'invalid_request_error',
    code: 'payment_intent_unexpected_state',
    message: `This PaymentIntent has a status of ${intent.status}.`,
    payment_intent: intent,
  })
}

const intentAt = (state: StripeState, id: string) => found(state.intents, 'payment_intent', id, 'intent')
