// What it takes to write down a notification that a provider could have sent.

import type { StaticDecode, TObject, TSchema } from 'typebox'
import type { Provider, ProviderNotification } from './provider.ts'

/** The object that a notification is about: `data.object`, `resource` or `payload`. */
export type ProviderObject = Readonly<Record<string, unknown>>

export type NotificationContent = {
  /** A UUID, which everything that is made up holds. */
  readonly id: string
  /** The provider's own name. */
  readonly type: string
  readonly at: Date
  readonly object: ProviderObject
  /** What a client wrote beside the object. */
  readonly siblings: ProviderObject
}

export type NotificationFormat = {
  /** The provider's own names for the generic ones of interface section 6.1. What is not here it has no name for. */
  readonly nativeTypes: Readonly<Record<string, string>>
  /**
   * Fields without which an object is not what the type, or the generic name that stands behind it, says.
   * @param type the provider's own name; `generic_type` the name that was asked for, if it was that
   */
  readonly minimalObject: (about: {
    readonly id: string
    readonly type: string
    readonly generic_type: string | null
    readonly object: ProviderObject
  }) => ProviderObject
  /** The notification as the provider would write it, before it is printed. */
  readonly envelope: (notification: NotificationContent) => ProviderObject
  /** Where type and object stand in it. */
  readonly keys: { readonly type: string; readonly object: string }
  /** Whether an object that a client wrote has its amount in minor units, where the provider's own can look the same. */
  readonly isInMinorUnits?: (object: ProviderObject) => boolean
  /**
   * What the notification says in the provider's own fields. It throws for nothing that stands in the object.
   * @param written `body` the text of the envelope
   */
  readonly read: (
    written: Pick<NotificationContent, 'type' | 'at' | 'object'> & { body: Buffer },
  ) => ProviderNotification
}

/** An id for an object that has none. Receivers see that it is made up. */
export const testIdOf = (id: string) => `test_${id}`

// What there is to know of a provider before it is enabled, so that whoever enables it, documents its receiver or writes
// down what it could have sent needs no list of providers. It loads nothing that calls the provider.

type Variables = Readonly<Record<string, TSchema>>
type Settings<Schemas extends Variables> = Readonly<StaticDecode<TObject<Schemas>>>

export type ProviderPlugin<Schemas extends Variables> = {
  /** Of the environment, by their names. What signs notifications may be several, comma-separated, while it is replaced. */
  readonly variables: Schemas
  /** One sentence for everything that is missing beside what is there. */
  readonly problems: (settings: Settings<Schemas>) => readonly string[]
  /** Whether its credentials are set and move real money: those of a provider's test environment do not. */
  readonly isLive: (settings: Settings<Schemas>) => boolean
  /**
   * The provider, when its variables enable it. What calls it is loaded here and not before: the packages behind it take
   * longer to load than most of our programs.
   * @param timeoutMs for all tries of one call together
   */
  readonly create: (settings: Settings<Schemas>, timeoutMs: number) => Promise<Provider | undefined>
  readonly receiver: ReceiverDocs
  /** What it takes to write down its notifications. */
  readonly format: NotificationFormat
}

/** What the documentation says of the route that takes a provider's notifications. */
export type ReceiverDocs = {
  readonly operationId: string
  /** The provider, in words. */
  readonly provider: string
  /** The headers that the signature is in. */
  readonly signedBy: Readonly<Record<string, string>>
  readonly example: object
}

/** A plugin whose functions are given what its own variables decode to. */
export function definePlugin<const Schemas extends Variables>(plugin: ProviderPlugin<Schemas>) {
  return plugin
}

/** Of credentials that are set together or not at all: one sentence for each that is missing beside others. */
export function missingCredentials<Name extends string>(
  settings: { readonly [Key in Name]?: unknown },
  names: readonly Name[],
): string[] {
  const given = names.filter((name) => isSet(settings[name]))
  if (given.length === 0) return []
  return names
    .filter((name) => !given.includes(name))
    .map((name) => `${name} is required when ${given.join(' and ')} is set`)
}

function isSet(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : value !== undefined
}
