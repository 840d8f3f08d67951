// The fake Stripe's state, its event log, and the type of its routes.
import type { ChargeLedger } from '../fakeServer.ts'
import type { StripeCustomer, StripeMethod, StripePrice, StripeProduct } from './bodies.ts'
import { invalid, noSuch } from './errors.ts'
import { type StripeEvent, stripeEvent } from './events.ts'
import { numberIn, type Spec, textIn, type Values } from './params.ts'
import type { StripeCharge, StripeDispute, StripeIntent, StripeRefund, StripeRefundStatus } from './paymentBodies.ts'

export type StripeState = {
  /** The ids of the intents that searches find; `null` for all. */
  searchable: ReadonlySet<string> | null
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
    searchable: null,
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

/** Finds the object of a path. @throws StripeApiError */
export function found<Kept>(kept: ReadonlyMap<string, Kept>, what: string, id: string, param = what): Kept {
  const object = kept.get(id)
  if (object === undefined) throw noSuch(what, id, param, 404)
  return object
}

/** A page of the matching objects, newest first. @throws StripeApiError */
export function pageOf<Kept extends { readonly id: string }>(
  kept: ReadonlyMap<string, Kept>,
  what: string,
  { values, matches }: { readonly values: Values; readonly matches: (each: Kept) => boolean },
) {
  const [limit, after] = [numberIn(values, 'limit') ?? 10, textIn(values, 'starting_after')]
  if (limit < 1 || limit > 100)
    throw invalid('parameter_invalid_integer', 'This value must be between 1 and 100.', 'limit')
  if (after !== null && !kept.has(after)) throw noSuch(what, after, 'starting_after', 400)
  const all = [...kept.values()].reverse()
  const from = after === null ? 0 : all.findIndex(({ id }) => id === after) + 1
  const matching = all.slice(from).filter(matches)
  return { object: 'list', data: matching.slice(0, limit), has_more: matching.length > limit, url: `/v1/${what}s` }
}

/** @param call such as `POST payment_intents/:id/cancel` */
export function route(call: string, params: Spec, act: Route['act']): Route {
  const [method = '', path = ''] = call.split(' ')
  return { method, pattern: new RegExp(`^/v1/${path.replace(':id', '([\\w-]+)')}$`), params, act }
}

export type Route = {
  readonly method: string
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
}
