// What it takes to write down a notification that a provider could have sent.
import type { ProviderNotification } from './provider.ts'

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
