// Where the sandbox keeps its intents, and the notifications that it has to deliver.
import type { PaymentStatus } from '@paylog/domain/payments/payment'
import type { SandboxIntent } from './intent.ts'

export type SandboxMemory = {
  /** @throws ProviderError `unknown` */
  read(intentId: string): Promise<SandboxIntent | undefined>
  /** @throws ProviderError `unknown` */
  ofPayment(paymentId: string): Promise<readonly SandboxIntent[]>
  /**
   * Adds an intent, unless it is there.
   * @throws ProviderError `unknown`
   */
  add(intent: SandboxIntent): Promise<void>
  /**
   * Changes an intent. Concurrent changes of one intent wait for each other.
   * @param change what it throws is thrown, and nothing is changed
   * @returns the intent afterwards; undefined for an unknown one
   * @throws ProviderError `unknown`
   */
  update(intentId: string, change: (intent: SandboxIntent) => SandboxIntent): Promise<SandboxIntent | undefined>
  close(): Promise<void>
}

/** What happens to an intent, with what its receiver is told of it. */
export type IntentChange = {
  readonly intent: SandboxIntent
  readonly notifications: readonly {
    readonly body: string
    readonly delay_seconds: number
    /** It is dropped when the intent has another status by then; null to deliver it in any case. */
    readonly only_while: PaymentStatus | null
  }[]
}

/** Keeps notifications until they are delivered, for at most three days. */
export type SandboxOutbox = {
  /**
   * Changes an intent as `update` does, and keeps the notifications, in one transaction.
   * @param change undefined to leave the intent as it is
   */
  change(
    intentId: string,
    change: (intent: SandboxIntent) => IntentChange | undefined,
  ): Promise<SandboxIntent | undefined>
  /**
   * The notifications that are due, the next of each intent. Nobody else gets them for half a minute, in which they have to be
   * delivered.
   * @throws ProviderError `unknown`
   */
  due(): Promise<readonly { readonly id: string; readonly body: string }[]>
  /** Forgets a notification. @throws ProviderError `unknown` */
  delivered(id: string): Promise<void>
}

/** More than any test needs, and little enough for a process that runs for days. */
const maxKept = 10_000

/** A memory of this process. It forgets the oldest intents when there are too many. */
export function createLocalMemory(): SandboxMemory {
  const intents = new Map<string, SandboxIntent>()
  return {
    read: async (intentId) => intents.get(intentId),
    ofPayment: async (paymentId) => [...intents.values()].filter(({ payment_id }) => payment_id === paymentId),
    async add(intent) {
      const id = intent.provider_intent_id
      if (!intents.has(id)) intents.set(id, intent)
      const [oldest] = intents.keys()
      if (intents.size > maxKept && oldest !== undefined) intents.delete(oldest)
    },
    async update(intentId, change) {
      const known = intents.get(intentId)
      const changed = known && change(known)
      if (changed) intents.set(intentId, changed)
      return changed
    },
    close: async () => undefined,
  }
}
