// The fake Stripe's routes for charges, refunds, disputes and the balance. https://docs.stripe.com/api/refunds
import { invalid, noSuch } from './errors.ts'
import { expansionsIn, numberIn, textIn, textsIn, type Values } from './params.ts'
import type { StripeCharge, StripeRefund } from './paymentBodies.ts'
import { addRefund, refundsOf } from './reversals.ts'
import { found, pageOf, type Route, type RouteCall, route, type StripeState } from './state.ts'

export const refundRoutes: readonly Route[] = [
  route('GET charges/:id', { expand: 'texts' }, ({ state, id, values }) => {
    const charge = found(state.charges, 'charge', id)
    return expansionsIn(values, ['refunds']).length > 0 ? withRefunds(state, charge) : charge
  }),
  route(
    'POST refunds',
    { amount: 'integer', charge: 'text', metadata: 'texts', payment_intent: 'text', reason: 'text' },
    create,
  ),
  route('GET refunds', { charge: 'text', limit: 'integer', payment_intent: 'text', starting_after: 'text' }, list),
  route('GET refunds/:id', {}, ({ state, id }) => found(state.refunds, 'refund', id)),
  route('GET balance', {}, () => ({ object: 'balance', available: [], livemode: false, pending: [] })),
  route('GET disputes/:id', {}, ({ state, id }) => found(state.disputes, 'dispute', id)),
]

/** An expanded list holds the newest ones. */
const expandedSize = 10

export function withRefunds(state: StripeState, charge: StripeCharge) {
  const refunds = refundsOf(state, charge.id)
  const url = `/v1/charges/${charge.id}/refunds`
  const has_more = refunds.length > expandedSize
  return { ...charge, refunds: { object: 'list', data: refunds.slice(0, expandedSize), has_more, url } }
}

function create({ state, values, key }: RouteCall): StripeRefund {
  const charge = refundable(state, values)
  const rest = charge.amount - charge.amount_refunded
  const amount = numberIn(values, 'amount') ?? rest
  const reason = textIn(values, 'reason')
  if (reason !== null && !['duplicate', 'fraudulent', 'requested_by_customer'].includes(reason))
    throw invalid(undefined, `Invalid reason: ${reason}`, 'reason')
  if (amount < 1) throw invalid('parameter_invalid_integer', 'Invalid positive integer', 'amount')
  if (amount > rest)
    throw invalid(undefined, `Refund amount is greater than unrefunded amount on charge (${rest})`, 'amount')
  const status = state.nextRefunds.shift() ?? 'succeeded'
  return addRefund(state, charge, { amount, status, reason, metadata: textsIn(values, 'metadata'), key })
}

/** The charge that may be refunded. @throws StripeApiError */
function refundable(state: StripeState, values: Values): StripeCharge {
  const [chargeId, intentId] = [textIn(values, 'charge'), textIn(values, 'payment_intent')]
  if ((chargeId === null) === (intentId === null))
    throw invalid('parameter_missing', 'One of charge and payment_intent is required.', 'charge')
  const intent = intentId === null ? undefined : state.intents.get(intentId)
  if (intentId !== null && !intent) throw noSuch('payment_intent', intentId, 'payment_intent', 400)
  const id = chargeId ?? intent?.latest_charge ?? null
  const charge = id === null ? undefined : state.charges.get(id)
  if (!charge && chargeId !== null) throw noSuch('charge', chargeId, 'charge', 400)
  if (charge?.status !== 'succeeded')
    throw invalid(undefined, 'This PaymentIntent does not have a successful charge to refund.')
  if (!charge.captured) throw invalid(undefined, 'You must cancel the PaymentIntent to reverse the authorization.')
  if (charge.disputed) throw invalid('charge_disputed', `Charge ${charge.id} has been charged back.`)
  if (charge.refunded) throw invalid('charge_already_refunded', `Charge ${charge.id} has already been refunded.`)
  return charge
}

function list({ state, values }: RouteCall): object {
  const [charge, intent] = [textIn(values, 'charge'), textIn(values, 'payment_intent')]
  const matches = (each: StripeRefund) =>
    (charge ?? each.charge) === each.charge && (intent ?? each.payment_intent) === each.payment_intent
  return pageOf(state.refunds, 'refund', { values, matches })
}
