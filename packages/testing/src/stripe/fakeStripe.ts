// A fake Stripe over HTTP with in-memory state: API, idempotency keys and signed notifications.
import { createServer } from 'node:http'
import type { Test } from 'tap'
import {
  type ChargeLedger,
  createChargeLedger,
  deliverEvents,
  type FakeRateLimit,
  type FaultPlan,
  listen,
  type SignedEvent,
} from '../fakeServer.ts'
import {
  type Card,
  type CardChange,
  type NewPrice,
  type StripeMethod,
  type StripePrice,
  type StripeProduct,
  stripeId,
} from './bodies.ts'
import { addPrice, changePrice, changeProduct, deleteProduct, type ProductChange } from './catalog.ts'
import { type StripeEvent, signEvent, stripeEvent, type ThinEvent, thinEvent } from './events.ts'
import { type PayOutcome, pay } from './payer.ts'
import {
  intentBody,
  type NewIntent,
  type StripeIntent,
  type StripeRefund,
  type StripeRefundStatus,
} from './paymentBodies.ts'
import { balanceOf, changeRefund, closeDispute, dispute, refund, refundsOf, type StripeBalance } from './reversals.ts'
import { createStripeServer, type PlannedError, type StripeCall } from './server.ts'
import { createStripeState, existing, type StripeState } from './state.ts'
import { addMethod, changeCard, confirmSetup, deleteCustomer, detachMethod } from './vaultRoutes.ts'

export type FakeStripe = {
  readonly origin: string
  readonly secretKey: string
  readonly webhookSecret: string
  /** The environment that makes the apps use this fake. */
  readonly env: Readonly<Record<string, string>>
  /** All received calls, including rejected ones. */
  readonly calls: readonly StripeCall[]
  /** For calls that change something. */
  readonly faults: FaultPlan
  readonly readFaults: FaultPlan
  /** Amounts are in Stripe's units, currencies in lower case. */
  readonly ledger: ChargeLedger
  /** All events, in order. */
  readonly events: readonly StripeEvent[]

  /** Errors for the next calls, which are not executed and not stored under their keys. */
  failNext(...errors: readonly PlannedError[]): void
  /** Calls above the rate get a 429 and are not executed. */
  readonly rateLimit: FakeRateLimit
  /** The next changing call fails inside Stripe: its 500 is stored under its key, as Stripe does. `null` forgets the plan. */
  failInside(how: { readonly commits: boolean } | null): void
  /** Until `catchUpSearch`, searches do not find intents created from now on. */
  delaySearch(): void
  catchUpSearch(): void
  /** Closes all connections and refuses new ones, until `open`. */
  shut(): void
  open(): Promise<void>

  intent(id: string): StripeIntent
  intents(): readonly StripeIntent[]
  /** Another system creates an intent. */
  openIntent(intent: NewIntent): StripeIntent
  /** The payer submits the intent's form. @returns the resulting events, in order */
  pay(intentId: string, outcome: PayOutcome): StripeEvent[]
  /** @param amount default: the amount that is not refunded yet */
  refund(intentId: string, amount?: number): StripeEvent[]
  /** The statuses of the next refunds that are requested by calls. */
  nextRefunds(...statuses: readonly StripeRefundStatus[]): void
  /** A pending refund ends, or a succeeded one fails: `refund.updated` and others. */
  changeRefund(refundId: string, status: 'succeeded' | 'failed' | 'canceled'): StripeEvent[]
  /** Newest first, also those that only released an authorization. */
  refundsOf(intentId: string): readonly StripeRefund[]
  /** The money of an intent, in Stripe's units. */
  balanceOf(intentId: string): StripeBalance
  dispute(intentId: string, amount?: number): StripeEvent[]
  closeDispute(disputeId: string, status: 'won' | 'lost'): StripeEvent[]

  /** A payer's device creates a method, or a token of the older card forms. */
  addMethod(card?: Card): StripeMethod
  addToken(card?: Card): string
  /** The payer's device confirms a setup intent, which attaches the method to the intent's customer. */
  confirmSetup(setupIntentId: string, methodId: string): StripeEvent[]
  method(id: string): StripeMethod
  /** Whether a customer exists. */
  hasCustomer(id: string): boolean
  /** The methods that are attached to a customer. */
  methodsOf(customerId: string): readonly StripeMethod[]
  /** The merchant detaches a method in the Dashboard: `payment_method.detached`. */
  detachMethod(id: string): StripeEvent[]
  /** @param by `bank`: `payment_method.automatically_updated`, `merchant`: `payment_method.updated` */
  changeCard(methodId: string, card: CardChange, by?: 'bank' | 'merchant'): StripeEvent[]
  /** Deletes a customer. Its methods stay unchanged and get no event. */
  deleteCustomer(id: string): StripeEvent[]

  products(): readonly StripeProduct[]
  product(id: string): StripeProduct
  /** Oldest first, including archived prices. */
  pricesOf(productId: string): readonly StripePrice[]
  /** The merchant creates a price in the Dashboard. */
  addPrice(price: NewPrice): StripePrice
  archivePrice(id: string): StripePrice
  changeProduct(id: string, change: ProductChange): StripeProduct
  /** Also deletes its prices. */
  deleteProduct(id: string): StripeEvent[]

  /** Creates any other event, with a body of `billing.ts` or of the test. @param how `created` in Unix seconds */
  event(type: string, object: object, how?: { readonly created?: number; readonly previous?: object }): StripeEvent
  /** The thin event about the change that a snapshot event reports. It has another id. */
  thin(event: StripeEvent): ThinEvent
  /** @param by `secret`: one, or several as during a rotation; `at`: the time of the signature */
  signed(event: object, by?: { readonly secret?: string | readonly string[]; readonly at?: Date }): SignedEvent
  /** Posts the events in the given order, `times` times. @returns the response statuses */
  deliver(
    url: string,
    events: readonly object[],
    how?: { readonly times?: number; readonly secret?: string; readonly at?: Date },
  ): Promise<number[]>
}

/**
 * Starts a fake Stripe that ends with the test. The test fails if a payment was charged twice.
 * @param options `now`: Stripe's clock; `allowDouble`: for a test that charges twice on purpose
 */
export async function startFakeStripe(
  t: Pick<Test, 'teardown'>,
  options: {
    readonly now?: () => Date
    readonly secretKey?: string
    readonly webhookSecret?: string
    readonly allowDouble?: boolean
  } = {},
): Promise<FakeStripe> {
  const now = options.now ?? (() => new Date())
  const secretKey = options.secretKey ?? 'sk_test_example'
  const webhookSecret = options.webhookSecret ?? 'whsec_example'
  const ledger = createChargeLedger(t, { allowDouble: options.allowDouble ?? false })
  const state = createStripeState(ledger, now)
  const { listener, ...controls } = createStripeServer({ state, secretKey, now })
  const http = createServer(listener)
  const origin = await listen(t, http)
  const signed: FakeStripe['signed'] = (event, { secret = webhookSecret, at = now() } = {}) =>
    signEvent(event, { secrets: typeof secret === 'string' ? [secret] : secret, at })
  return {
    origin,
    secretKey,
    webhookSecret,
    env: {
      STRIPE_SECRET_KEY: secretKey,
      STRIPE_WEBHOOK_SECRET: webhookSecret,
      STRIPE_API_BASE: origin,
      STRIPE_MAX_PER_SECOND: '0',
    },
    ledger,
    events: state.events,
    ...controls,
    shut() {
      http.close()
      http.closeAllConnections()
    },
    open: () => new Promise((resolve) => void http.listen(Number(new URL(origin).port), '127.0.0.1', resolve)),

    intent: (id) => existing(state.intents, id),
    intents: () => [...state.intents.values()],
    openIntent(intent) {
      const opened = intentBody(intent, state.seconds())
      state.intents.set(opened.id, opened)
      state.recordEvent('payment_intent.created', opened)
      return opened
    },
    pay: (intentId, outcome) => pay(state, intentId, outcome),
    ...moneyControls(state),

    addMethod: (card = {}) => addMethod(state, card),
    addToken(card = {}) {
      const token = stripeId('tok')
      state.tokens.set(token, { card, used: false })
      return token
    },
    confirmSetup: (setupIntentId, methodId) => confirmSetup(state, setupIntentId, methodId),
    method: (id) => existing(state.methods, id),
    methodsOf: (customerId) => [...state.methods.values()].filter(({ customer }) => customer === customerId),
    detachMethod: (id) => [detachMethod(state, existing(state.methods, id), null)],
    changeCard: (id, card, by = 'bank') => [changeCard(state, { method: existing(state.methods, id), card, by })],
    hasCustomer: (id) => state.customers.has(id),
    deleteCustomer: (id) => [deleteCustomer(state, id, null)],

    products: () => [...state.products.values()],
    product: (id) => existing(state.products, id),
    pricesOf: (productId) => [...state.prices.values()].filter(({ product }) => product === productId),
    addPrice: (price) => addPrice(state, price),
    archivePrice: (id) => changePrice(state, { price: existing(state.prices, id), change: { active: false } }),
    changeProduct: (id, change) => changeProduct(state, { product: existing(state.products, id), change }),
    deleteProduct: (id) => deleteProduct(state, id),

    event: (type, object, how = {}) => stripeEvent(type, object, { created: state.seconds(), ...how }),
    thin: thinEvent,
    signed,
    deliver: (url, events, { times, ...by } = {}) =>
      deliverEvents(url, { events, sign: (event) => signed(event, by), times }),
  }
}

type MoneyControls = 'refund' | 'nextRefunds' | 'changeRefund' | 'refundsOf' | 'balanceOf' | 'dispute' | 'closeDispute'

function moneyControls(state: StripeState): Pick<FakeStripe, MoneyControls> {
  return {
    refund: (intentId, amount) => refund(state, intentId, amount),
    nextRefunds: (...statuses) => void state.nextRefunds.push(...statuses),
    changeRefund: (refundId, status) => changeRefund(state, refundId, status),
    refundsOf: (intentId) => refundsOf(state, existing(state.intents, intentId).latest_charge ?? ''),
    balanceOf: (intentId) => balanceOf(state, intentId),
    dispute: (intentId, amount) => dispute(state, intentId, amount),
    closeDispute: (disputeId, status) => closeDispute(state, disputeId, status),
  }
}
