// What a path of the fake Stripe is.
import type { Spec, Values } from './form.ts'
import type { StripeState } from './state.ts'

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
