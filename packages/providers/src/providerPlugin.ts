// What there is to know of a provider before it is enabled, so that whoever enables it, documents its receiver or writes
// down what it could have sent needs no list of providers. It loads nothing that calls the provider.
import type { StaticDecode, TObject, TSchema } from 'typebox'
import type { NotificationFormat } from './notificationForm.ts'
import type { Provider } from './provider.ts'

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
