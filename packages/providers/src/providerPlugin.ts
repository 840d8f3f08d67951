// A provider's plugin: its variables, its receiver's documentation and its notification format, known without enabling
// it. Importing a plugin loads no code that calls the provider.
import type { StaticDecode, TObject, TSchema } from 'typebox'
import type { Provider, ProviderNotification } from './provider.ts'

/** The object that a notification is about: `data.object`, `resource` or `payload`. */
export type ProviderObject = Readonly<Record<string, unknown>>

export type NotificationContent = {
  /** A UUID that every generated id contains. */
  readonly id: string
  /** The provider's own type. */
  readonly type: string
  readonly at: Date
  readonly object: ProviderObject
  /** Fields that the client wrote next to the object. */
  readonly siblings: ProviderObject
}

export type NotificationFormat = {
  /** The provider's own type for each generic type of interface section 6.1 that it supports. */
  readonly nativeTypes: ReadonlyMap<string, string>
  /**
   * The fields that an object of this type needs.
   * @param about `type`: the provider's own type; `generic_type`: the generic type, if the client named that
   */
  readonly minimalObject: (about: {
    readonly id: string
    readonly type: string
    readonly generic_type: string | null
    readonly object: ProviderObject
  }) => ProviderObject
  /** The notification as the provider would send it, before serialisation. */
  readonly envelope: (notification: NotificationContent) => ProviderObject
  /** The keys of type, time and object in the envelope. */
  readonly keys: { readonly type: string; readonly time: string; readonly object: string }
  /** Whether the amount of a client's object is in minor units, for providers whose own amounts are not. */
  readonly isInMinorUnits?: (object: ProviderObject) => boolean
  /**
   * Reads the notification from the provider's own fields. Invalid fields of the object are ignored.
   * @param written `body`: the serialised envelope
   */
  readonly read: (
    written: Pick<NotificationContent, 'type' | 'at' | 'object'> & { body: Buffer },
  ) => ProviderNotification
}

/**
 * The provider's own type for each generic one. Of several types that mean the same, the first is taken.
 * @param genericTypes by the provider's own types
 */
export function nativeTypesOf(
  genericTypes: Iterable<readonly [own: string, generic: string]>,
): ReadonlyMap<string, string> {
  return new Map([...genericTypes].reverse().map(([own, generic]) => [generic, own]))
}

/** An id for an object that has none. The prefix shows that it is not real. */
export const testIdOf = (id: string) => `test_${id}`

type Variables = Readonly<Record<string, TSchema>>
type Settings<Schemas extends Variables> = Readonly<StaticDecode<TObject<Schemas>>>

/** `live` moves real money; `test` is the provider's test environment, `sandbox` ours. */
export const providerModes = ['live', 'test', 'sandbox'] as const
export type ProviderMode = (typeof providerModes)[number]

export type ProviderPlugin<Schemas extends Variables> = {
  /** Environment variables by name. A signing secret may be a comma-separated list during a rotation. */
  readonly variables: Schemas
  /** Configuration errors, one sentence each. */
  readonly problems: (settings: Settings<Schemas>) => readonly string[]
  /** Whose money the credentials move, as their form or the API's address shows; null when they are not set. */
  readonly mode: (settings: Settings<Schemas>) => ProviderMode | null
  /**
   * Creates the provider if its variables enable it. Imports the adapter only now, because its packages load slowly.
   * @param timeoutMs for all attempts of one call together
   */
  readonly create: (settings: Settings<Schemas>, timeoutMs: number) => Promise<Provider | undefined>
  readonly receiver: ReceiverDocs
  readonly format: NotificationFormat
}

/** OpenAPI documentation of the provider's receiver. */
export type ReceiverDocs = {
  readonly operationId: string
  /** Display name. */
  readonly provider: string
  /** The signature headers and their descriptions. */
  readonly signedBy: Readonly<Record<string, string>>
  readonly example: object
}

/** Infers the types of a plugin's settings from its variables. */
export function definePlugin<const Schemas extends Variables>(plugin: ProviderPlugin<Schemas>) {
  return plugin
}

/** Checks credentials that must be set together: returns one sentence for each missing one, if any is set. */
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
