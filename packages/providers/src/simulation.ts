// Notifications that no provider has sent: an object that somebody wrote down, in the provider's envelope, and what the
// provider's receiver would read from it. No provider is called, and none needs to be enabled.
import { DomainError } from '@paylog/domain/errors'
import type { NotificationForm, ProviderObject } from './notificationForm.ts'
import type { ProviderNotification } from './provider.ts'
import { providerPlugins } from './registry.ts'

export type SimulatedNotification = {
  /** The text as the provider would have sent it. */
  readonly body: string
  /** What the receiver would read. */
  readonly notification: ProviderNotification
}

export type Simulator = {
  /** The provider's own name for a generic one of interface section 6.1; `undefined` where it has none. */
  nativeType(generic: string): string | undefined
  /**
   * @param asked `type` the provider's own; `generic_type` the name that it stands for, if that was asked for; `object`
   *   as the provider would write it, where an id that is left out is made up; `id` a UUID that all that is made up holds
   * @throws DomainError `invalid_request` when the provider's receiver could not read it
   */
  simulate(asked: {
    readonly type: string
    readonly generic_type: string | null
    readonly object: ProviderObject
    readonly id: string
    readonly at: Date
  }): SimulatedNotification
  /** Which fields of a payment's object hold its amount, to complete the sentence "… has to have". */
  readonly amountFields: string
}

/** By the names of the providers, all that there are. */
export const simulators: ReadonlyMap<string, Simulator> = new Map(
  Object.entries(providerPlugins).map(([name, { form }]) => [name, createSimulator(form)]),
)

function createSimulator(form: NotificationForm): Simulator {
  const { nativeTypes, amountFields } = form
  return {
    nativeType: (generic) => (Object.hasOwn(nativeTypes, generic) ? nativeTypes[generic] : undefined),
    amountFields,
    simulate({ type, generic_type, object: given, id, at }) {
      const object = { ...form.leastObject({ id, type, generic_type, object: given }), ...given }
      const body = JSON.stringify(form.envelope({ id, type, at, object }))
      return { body, notification: read(form, body) }
    },
  }
}

function read({ readNotification, objectPath }: NotificationForm, body: string): ProviderNotification {
  try {
    return readNotification(Buffer.from(body))
  } catch (error) {
    if (!(error instanceof DomainError)) throw error
    // Whoever wrote the object knows nothing of the envelope around it.
    throw new DomainError(error.code, error.message.replace(objectPath, ''), error.details, { cause: error })
  }
}
