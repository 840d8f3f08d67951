// Where the sandbox keeps its intents.
import type { SandboxIntent } from './intent.ts'

export type SandboxMemory = {
  /** @throws ProviderError `unknown` */
  read(intentId: string): Promise<SandboxIntent | undefined>
  /** @throws ProviderError `unknown` */
  ofPayment(paymentId: string): Promise<readonly SandboxIntent[]>
  /**
   * Changes an intent. Concurrent changes of one intent wait for each other.
   * @param change gets undefined for an unknown intent; what it throws is thrown, and nothing is changed
   * @returns the intent afterwards
   * @throws ProviderError `unknown`
   */
  update(
    intentId: string,
    change: (intent: SandboxIntent | undefined) => SandboxIntent | undefined,
  ): Promise<SandboxIntent | undefined>
  close(): Promise<void>
}

/** More than any test needs, and little enough for a process that runs for days. */
const maxKept = 10_000

/** A memory of this process. It forgets the oldest intents when there are too many. */
export function createLocalMemory(): SandboxMemory {
  const intents = new Map<string, SandboxIntent>()
  return {
    read: async (intentId) => intents.get(intentId),
    ofPayment: async (paymentId) => [...intents.values()].filter(({ payment_id }) => payment_id === paymentId),
    async update(intentId, change) {
      const changed = change(intents.get(intentId))
      if (changed) intents.set(intentId, changed)
      const [oldest] = intents.keys()
      if (intents.size > maxKept && oldest !== undefined) intents.delete(oldest)
      return changed
    },
    close: async () => undefined,
  }
}
