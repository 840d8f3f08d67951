// What the fake Stripe knows, and the events that come of its changes.
import type { ChargeLedger } from '../fakeServer.ts'
import type { StripeCustomer, StripeMethod, StripePrice, StripeProduct } from './bodies.ts'
import { type StripeEvent, stripeEvent } from './events.ts'
import type { Spec, Values } from './params.ts'
import type { StripeCharge, StripeDispute, StripeIntent } from './paymentBodies.ts'

export type StripeState = {
  readonly intents: Map<string, StripeIntent>
  readonly charges: Map<string, StripeCharge>
  readonly disputes: Map<string, StripeDispute>
  readonly customers: Map<string, StripeCustomer>
  readonly methods: Map<string, StripeMethod>
  readonly setupIntents: Map<string, { readonly id: string; readonly customer: string | null }>
  /** Tokens of the older card forms, and whether each was used. */
  readonly tokens: Map<string, { readonly card: object; used: boolean }>
  /** Methods that were detached, which can never be attached again. */
  readonly spentMethods: Set<string>
  readonly products: Map<string, StripeProduct>
  /** Oldest first. */
  readonly prices: Map<string, StripePrice>
  readonly events: StripeEvent[]
  readonly ledger: ChargeLedger
  readonly seconds: () => number
  /** Records that something happened. @param key of the call that did it */
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
    disputes: new Map(),
    customers: new Map(),
    methods: new Map(),
    setupIntents: new Map(),
    tokens: new Map(),
    spentMethods: new Set(),
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

/** What a test speaks of by its id, which has to be there. */
export function existing<Kept>(kept: ReadonlyMap<string, Kept>, id: string): Kept {
  const found = kept.get(id)
  if (found === undefined) throw new Error(`Nothing has the id ${id}`)
  return found
}

// What a path of the fake Stripe is.

export type Route = {
  readonly method: 'GET' | 'POST'
  /** Its first group is the id in the path. */
  readonly pattern: RegExp
  readonly params: Spec
  /** Does it and returns the answer. @throws StripeRefusal */
  readonly act: (call: RouteCall) => object
}

export type RouteCall = {
  readonly state: StripeState
  readonly id: string
  readonly values: Values
  readonly key: string | null
  /** Whether a search finds the intent yet. */
  readonly isSearchable: (intentId: string) => boolean
}
