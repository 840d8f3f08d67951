// The fake Stripe's state, its event log, and the type of its routes.
import type { ChargeLedger } from '../fakeServer.ts'
import type { StripeCustomer, StripeMethod, StripePrice, StripeProduct } from './bodies.ts'
import { type StripeEvent, stripeEvent } from './events.ts'
import type { Spec, Values } from './params.ts'
import type { StripeCharge, StripeDispute, StripeIntent, StripeRefund, StripeRefundStatus } from './paymentBodies.ts'

export type StripeState = {
  readonly intents: Map<string, StripeIntent>
  readonly charges: Map<string, StripeCharge>
  /** Oldest first. */
  readonly refunds: Map<string, StripeRefund>
  readonly disputes: Map<string, StripeDispute>
  /** The statuses of the next refunds; `succeeded` when empty. */
  readonly nextRefunds: StripeRefundStatus[]
  readonly customers: Map<string, StripeCustomer>
  readonly methods: Map<string, StripeMethod>
  readonly setupIntents: Map<string, { readonly id: string; readonly customer: string | null }>
  /** Tokens of the older card forms, and whether each was used. */
  readonly tokens: Map<string, { readonly card: object; used: boolean }>
  /** Detached methods, which can never be attached again. */
  readonly detachedMethods: Set<string>
  readonly products: Map<string, StripeProduct>
  /** Oldest first. */
  readonly prices: Map<string, StripePrice>
  readonly events: StripeEvent[]
  readonly ledger: ChargeLedger
  readonly seconds: () => number
  /** Records an event. @param key of the call */
  recordEvent(
    type: string,
    object: object,
    more?: { readonly previous?: object; readonly key?: string | null },
  ): StripeEvent
}

export function createStripeState(ledger: ChargeLedger, now: () => Date): StripeState {
  const events: StripeEvent[] = []
  const seconds = () => Math.floor(now().getTime() / 1000)
  return {
    intents: new Map(),
    charges: new Map(),
    refunds: new Map(),
    disputes: new Map(),
    nextRefunds: [],
    customers: new Map(),
    methods: new Map(),
    setupIntents: new Map(),
    tokens: new Map(),
    detachedMethods: new Set(),
    products: new Map(),
    prices: new Map(),
    events,
    ledger,
    seconds,
    recordEvent(type, object, more = {}) {
      const event = stripeEvent(type, object, { created: seconds(), ...more })
      events.push(event)
      return event
    },
  }
}

/** Finds an object by the id that a test gives; throws if there is none. */
export function existing<Kept>(kept: ReadonlyMap<string, Kept>, id: string): Kept {
  const found = kept.get(id)
  if (found === undefined) throw new Error(`No object has the id ${id}`)
  return found
}

export type Route = {
  readonly method: 'GET' | 'POST' | 'DELETE'
  /** Its first group is the id in the path. */
  readonly pattern: RegExp
  readonly params: Spec
  /** Executes a call and returns the response body. @throws StripeApiError */
  readonly act: (call: RouteCall) => object
}

export type RouteCall = {
  readonly state: StripeState
  readonly id: string
  readonly values: Values
  readonly key: string | null
  /** Whether searches find the intent. */
  readonly isSearchable: (intentId: string) => boolean
}
