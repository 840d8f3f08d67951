// What it takes to write down a notification that a provider could have sent.
import type { ProviderNotification } from './provider.ts'

/** The object that a notification is about: `data.object`, `resource` or `payload`. */
export type ProviderObject = Readonly<Record<string, unknown>>

export type WrittenNotification = {
  /** A UUID, which everything that is made up holds. */
  readonly id: string
  /** The provider's own name. */
  readonly type: string
  readonly at: Date
  readonly object: ProviderObject
}

export type NotificationForm = {
  /** The provider's own names for the generic ones of interface section 6.1. What is not here it has no name for. */
  readonly nativeTypes: Readonly<Record<string, string>>
  /**
   * Fields without which an object is not what the type, or the generic name that stands behind it, says.
   * @param type the provider's own name; `generic_type` the name that was asked for, if it was that
   */
  readonly leastObject: (about: {
    readonly id: string
    readonly type: string
    readonly generic_type: string | null
    readonly object: ProviderObject
  }) => ProviderObject
  /** The notification as the provider would write it, before it is printed. */
  readonly envelope: (notification: WrittenNotification) => object
  /** Where the object stands in it, as a JSON pointer. */
  readonly objectPath: string
  /** Which fields of a payment's object hold its amount, to complete the sentence "… has to have". */
  readonly amountFields: string
  /** What the receiver reads notifications with. @throws DomainError `invalid_request` */
  readonly readNotification: (body: Buffer) => ProviderNotification
}

/** An id for an object that has none. Receivers see that it is made up. */
export const madeUpId = (id: string) => `test_${id}`
