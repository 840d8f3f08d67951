// Simulated notifications: wraps a client's payload in the provider's envelope and reads it. Calls no provider, and
// none needs to be enabled.
import type { ProviderNotification } from './provider.ts'
import { type NotificationFormat, type ProviderObject, testIdOf } from './providerPlugin.ts'
import { providerPlugins } from './registry.ts'
import { codeIn, factsOfObject, isObject, timeOfEvent } from './simulatedFacts.ts'

export type SimulatedNotification = {
  /** The body as the provider would have sent it. */
  readonly body: string
  /** Missing fields and fields of the wrong type are `null`. */
  readonly facts: Omit<ProviderNotification, 'provider_event_id' | 'referenced_payment_id' | 'report'>
}

export type Simulator = {
  /** The provider's own type for a generic one of interface section 6.1; `undefined` where it has none. */
  nativeType(generic: string): string | undefined
  /**
   * @param request `type`: the provider's own type; `generic_type`: the generic type, if the client named that;
   *   `payload`: an event in the interface's or the provider's shape, its object, or some fields of the object;
   *   `defaults`: fields of the object that the payload may leave out; `id`: a UUID that every generated id contains
   */
  simulate(request: {
    readonly type: string
    readonly generic_type: string | null
    readonly payload: ProviderObject
    readonly defaults?: ProviderObject
    readonly id: string
    readonly at: Date
  }): SimulatedNotification
}

/** By provider name. */
export const simulators: ReadonlyMap<string, Simulator> = new Map(
  Object.entries(providerPlugins).map(([name, { format }]) => [name, createSimulator(format)]),
)

function createSimulator(format: NotificationFormat): Simulator {
  const { nativeTypes, keys } = format
  return {
    nativeType: (generic) => nativeTypes.get(generic),
    simulate({ type, generic_type, payload, defaults, id, at: now }) {
      const { object: given, siblings, envelope } = unwrapped(payload, keys.object)
      const at = timeOfEvent(envelope, keys.time) ?? now
      const named = 'id' in given || codeIn(given.payment_id) === null ? given : { id: given.payment_id, ...given }
      const object = { ...format.minimalObject({ id, type, generic_type, object: named }), ...defaults, ...named }
      const event = format.envelope({ id, type, at, object, siblings })
      const body = JSON.stringify({ ...event, ...envelope, [keys.type]: type, [keys.object]: event[keys.object] })
      const notification = format.read({ type, at, object, body: Buffer.from(JSON.stringify(event)) })
      const { provider_event_id: _id, referenced_payment_id: _paymentId, report: _report, ...read } = notification
      const facts = factsOfObject(read, object, format.isInMinorUnits?.(given) ?? false)
      return { body, facts: { ...read, ...facts, object_id: facts.object_id ?? testIdOf(id) } }
    },
  }
}

/**
 * Splits a payload into the object and the fields around it.
 * @param key the object's key in the provider's own events
 * @returns `siblings`: the fields next to the object in `data`, such as Stripe's `previous_attributes`; `envelope`: the
 *   rest
 */
function unwrapped(payload: ProviderObject, key: string) {
  const { data, ...others } = payload
  if (isObject(data) && isObject(data.object)) {
    const { object, ...siblings } = data
    return { object: data.object, siblings, envelope: others }
  }
  const { [key]: object, ...envelope } = payload
  if (key !== 'data' && isObject(object)) return { object, siblings: {}, envelope }
  return { object: payload, siblings: {}, envelope: {} }
}
