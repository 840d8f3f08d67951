// A fake Stripe over HTTP with in-memory state: API, idempotency keys and signed notifications.
import { createServer } from 'node:http'
import type { Test } from 'tap'
import { createChargeLedger, deliverEvents, listen, type SignedEvent } from '../fakeServer.ts'
import { type Card, type CardChange, type NewPrice, stripeId } from './bodies.ts'
import { addPrice, changePrice, changeProduct, deleteProduct, type ProductChange } from './catalog.ts'
import { signEvent, stripeEvent, thinEvent } from './events.ts'
import { type PayOutcome, pay } from './payer.ts'
import { intentBody, type NewIntent, type StripeRefundStatus } from './paymentBodies.ts'
import { balanceOf, changeRefund, closeDispute, dispute, refund, refundsOf } from './reversals.ts'
import { createStripeServer } from './server.ts'
import { createStripeState, existing, type StripeState } from './state.ts'
import { addMethod, changeCard, confirmSetup, deleteCustomer, detachMethod } from './vaultRoutes.ts'

export type FakeStripe = Awaited<ReturnType<typeof startFakeStripe>>

/**
 * Starts a fake Stripe that ends with the test. The test fails if a payment was charged twice. What the payer and the
 * merchant do returns the resulting events, in order.
 * @param options `now`: Stripe's clock; `allowDouble`: for a test that charges twice on purpose
 */
export async function startFakeStripe(
  t: Pick<Test, 'teardown'>,
  options: {
    readonly now?: () => Date
    readonly secretKey?: string
    readonly allowDouble?: boolean
  } = {},
) {
  const { now = () => new Date(), secretKey = 'sk_test_example', allowDouble = false } = options
  const webhookSecret = 'whsec_example'
  const ledger = createChargeLedger(t, { allowDouble })
  const state = createStripeState(ledger, now)
  const { listener, ...controls } = createStripeServer(state, secretKey, now)
  const http = createServer(listener)
  const origin = await listen(t, http)
  type SignedBy = { readonly secret?: string | readonly string[]; readonly at?: Date }
  const signed = (event: object, { secret = webhookSecret, at = now() }: SignedBy = {}): SignedEvent =>
    signEvent(event, { secrets: typeof secret === 'string' ? [secret] : secret, at })
  return {
    origin,
    secretKey,
    webhookSecret,
    /** The environment that makes the apps use this fake. */
    env: {
      STRIPE_SECRET_KEY: secretKey,
      STRIPE_WEBHOOK_SECRET: webhookSecret,
      STRIPE_API_BASE: origin,
      STRIPE_MAX_PER_SECOND: '0',
    },
    /** Amounts are in Stripe's units, currencies in lower case. */
    ledger,
    /** All events, in order. */
    events: state.events,
    ...controls,
    /** Closes all connections and refuses new ones, until `open`. */
    shut() {
      http.close()
      http.closeAllConnections()
    },
    open: () =>
      new Promise<void>((resolve) => void http.listen(Number(new URL(origin).port), '127.0.0.1', () => resolve())),
    ...paymentControls(state),
    ...methodControls(state),
    ...catalogControls(state),
    /** Creates any other event, with a body of `billing.ts` or of the test. @param how `created` in Unix seconds */
    event: (type: string, object: object, how: { readonly created?: number; readonly previous?: object } = {}) =>
      stripeEvent(type, object, { created: state.seconds(), ...how }),
    /** The thin event about the change that a snapshot event reports. It has another id. */
    thin: thinEvent,
    /** @param by `secret`: one, or several as during a rotation; `at`: the time of the signature */
    signed,
    /** Posts all events, in order. @returns the response statuses */
    deliver: (url: string) => deliverEvents(url, state.events, signed),
  }
}

function paymentControls(state: StripeState) {
  return {
    intent: (id: string) => existing(state.intents, id),
    intents: () => [...state.intents.values()],
    /** Another system creates an intent. */
    openIntent(intent: NewIntent) {
      const opened = intentBody(intent, state.seconds())
      state.intents.set(opened.id, opened)
      state.recordEvent('payment_intent.created', opened)
      return opened
    },
    /** Until `catchUpSearch`, searches do not find intents created from now on. */
    delaySearch() {
      state.searchable = new Set(state.intents.keys())
    },
    catchUpSearch() {
      state.searchable = null
    },
    /** The payer submits the intent's form. */
    pay: (intentId: string, outcome: PayOutcome) => pay(state, intentId, outcome),
    /** @param amount default: the amount that is not refunded yet */
    refund: (intentId: string, amount?: number) => refund(state, intentId, amount),
    /** The statuses of the next refunds that are requested by calls. */
    nextRefunds: (...statuses: readonly StripeRefundStatus[]) => void state.nextRefunds.push(...statuses),
    /** A pending refund ends, or a succeeded one fails: `refund.updated` and others. */
    changeRefund: (refundId: string, status: 'succeeded' | 'failed' | 'canceled') =>
      changeRefund(state, refundId, status),
    /** Newest first, also those that only released an authorization. */
    refundsOf: (intentId: string) => refundsOf(state, existing(state.intents, intentId).latest_charge ?? ''),
    /** The money of an intent, in Stripe's units. */
    balanceOf: (intentId: string) => balanceOf(state, intentId),
    dispute: (intentId: string, amount?: number) => dispute(state, intentId, amount),
    closeDispute: (disputeId: string, status: 'won' | 'lost') => closeDispute(state, disputeId, status),
  }
}

function methodControls(state: StripeState) {
  return {
    /** A payer's device creates a method, or a token of the older card forms. */
    addMethod: (card: Card = {}) => addMethod(state, card),
    addToken(card: Card = {}) {
      const token = stripeId('tok')
      state.tokens.set(token, { card, used: false })
      return token
    },
    /** The payer's device confirms a setup intent, which attaches the method to the intent's customer. */
    confirmSetup: (setupIntentId: string, methodId: string) => confirmSetup(state, setupIntentId, methodId),
    method: (id: string) => existing(state.methods, id),
    /** The methods that are attached to a customer. */
    methodsOf: (customerId: string) => [...state.methods.values()].filter(({ customer }) => customer === customerId),
    /** The merchant detaches a method in the Dashboard: `payment_method.detached`. */
    detachMethod: (id: string) => [detachMethod(state, existing(state.methods, id), null)],
    /** The bank replaces a card: `payment_method.automatically_updated`. */
    changeCard: (id: string, card: CardChange) => [changeCard(state, existing(state.methods, id), card)],
    /** Whether a customer exists. */
    hasCustomer: (id: string) => state.customers.has(id),
    /** Deletes a customer. Its methods stay unchanged and get no event. */
    deleteCustomer: (id: string) => [deleteCustomer(state, id, null)],
  }
}

/** What the merchant does in the Dashboard. */
function catalogControls(state: StripeState) {
  return {
    products: () => [...state.products.values()],
    product: (id: string) => existing(state.products, id),
    /** Oldest first, including archived prices. */
    pricesOf: (productId: string) => [...state.prices.values()].filter(({ product }) => product === productId),
    addPrice: (price: NewPrice) => addPrice(state, price),
    archivePrice: (id: string) => changePrice(state, { price: existing(state.prices, id), change: { active: false } }),
    changeProduct: (id: string, change: ProductChange) =>
      changeProduct(state, { product: existing(state.products, id), change }),
    /** Also deletes its prices. */
    deleteProduct: (id: string) => deleteProduct(state, id),
  }
}
