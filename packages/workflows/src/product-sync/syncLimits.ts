// How far a synchronisation goes before it leaves a provider alone.

/** So many products are under way at once. */
export const syncConcurrency = 8

/** So many calls in a row that the provider did not answer, and it is taken to be down. */
const maxConsecutiveFailures = 2 * syncConcurrency

/** After this long no further product is begun: somebody waits for the answer. */
export const syncTimeoutMs = 240_000

export type SyncLimits = {
  /** Why no further call is made; nothing while there is no reason. */
  reason(): string | undefined
  /** How a call ended. */
  responded(): void
  failed(): void
}

/** Of one synchronisation. */
export function createSyncLimits(now: () => Date): SyncLimits {
  const endsAt = now().getTime() + syncTimeoutMs
  let failures = 0
  return {
    reason() {
      if (failures >= maxConsecutiveFailures)
        return 'The provider did not answer for other products; this one was not attempted'
      if (now().getTime() >= endsAt) return 'The other products took too long; this one was not attempted'
      return undefined
    },
    responded() {
      failures = 0
    },
    failed() {
      failures++
    },
  }
}
