// What POST /webhooks/external/simulate is asked for: which of the names it is, and what the provider's object says.
import { DomainError } from '@paylog/domain/errors'
import { type Simulator, simulators } from '@paylog/providers/simulation'
import { canonicalName, genericFor } from '@paylog/webhooks/canonicalNames'
import { type RequestedFacts, invalidField, canonicalFacts, notificationFacts } from './facts.ts'

export type SimulationRequest = {
  readonly event: string
  readonly provider: string
  readonly payload: Readonly<Record<string, unknown>>
}

/** Brackets stand in Stripe's names of the second generation. */
const part = '[A-Za-z0-9_[\\]-]+'
const namePattern = new RegExp(`^(?:([a-z][a-z0-9-]*):)?(${part}(?:\\.${part})*)$`)

/** As long as a provider's own name may be. */
const maxNameLength = 200

/** A name that was asked for: the provider's own if `isNative`, and else one that has to be looked up. */
export type RequestedName = { readonly name: string; readonly isNative: boolean }

/** @throws DomainError `invalid_request` for what is no name, or one of another provider's */
export function parseRequestedName({ event, provider }: Pick<SimulationRequest, 'event' | 'provider'>): RequestedName {
  const [, prefix, name] = namePattern.exec(event) ?? []
  if (name === undefined || name.length > maxNameLength)
    throw invalidField(
      'event',
      'must be a name such as payment.succeeded, payment_intent.succeeded or stripe:charge.failed',
    )
  if (prefix !== undefined && prefix !== provider) throw invalidField('event', 'begins with another provider')
  return { name, isNative: prefix !== undefined }
}

/**
 * @param refuse is called before it is said that there is no such provider, to refuse for a graver reason
 * @throws DomainError `provider_not_enabled`
 */
export function simulatorOf(provider: string, refuse: () => void = () => undefined): Simulator {
  const simulator = simulators.get(provider)
  if (simulator) return simulator
  refuse()
  const known = [...simulators.keys()]
  throw new DomainError('provider_not_enabled', `The provider must be one of ${known.join(', ')}`, { known })
}

/**
 * What goes on record. A name that is the provider's own or a generic one is its notification; one that is only canonical
 * is that event; and one that nobody knows is a notification that only raw nodes are told of.
 */
export function simulationFacts(
  { provider, payload }: SimulationRequest,
  { name, isNative }: RequestedName,
  { simulator, id, at }: { readonly simulator: Simulator; readonly id: string; readonly at: Date },
): RequestedFacts {
  const simulated = (type: string, generic_type: string | null) =>
    simulator.simulate({ type, generic_type, payload, id, at })
  const type = isNative ? undefined : simulator.nativeType(name)
  if (type !== undefined) return notificationFacts(provider, simulated(type, name))
  const canonical = isNative ? undefined : canonicalName(name)
  if (canonical === undefined) return notificationFacts(provider, simulated(name, null))
  const generic = genericFor(canonical)
  return canonicalFacts(provider, canonical, simulated(simulator.nativeType(generic) ?? generic, generic))
}
