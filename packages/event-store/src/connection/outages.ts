// Reports the outages of the event store: a line for each, however many calls fail.

/** The part of a logger that the event store needs. */
export type StoreLog = {
  info(detail: object, message: string): void
  warn(detail: object, message: string): void
  error(detail: object, message: string): void
}

export type Outages = {
  /** A call failed for its caller. */
  failed(error: unknown): void
  succeeded(): void
  /** Ends an outage that something else reports. @returns how many calls failed in it */
  end(): number
}

/** @param quietMs an outage that is over within this time is not reported */
export function reportOutages(log: StoreLog | undefined, quietMs: number): Outages {
  let outage: { readonly since: number; calls: number; isReported: boolean } | undefined
  const end = () => {
    const calls = outage?.calls ?? 0
    outage = undefined
    return calls
  }
  return {
    failed(err) {
      outage ??= { since: performance.now(), calls: 0, isReported: false }
      outage.calls++
      if (outage.isReported || performance.now() - outage.since < quietMs) return
      outage.isReported = true
      log?.error({ err }, 'the event store is unavailable')
    },
    succeeded() {
      if (outage === undefined) return
      const { since, calls, isReported } = outage
      end()
      const detail = { seconds: Math.round(performance.now() - since) / 1_000, failed_calls: calls }
      if (isReported) log?.info(detail, 'the event store is available again')
    },
    end,
  }
}
