// The same thing again and again, as fast as it is done.

export type Rate = {
  readonly perSecond: number
  /** How long each one took, in milliseconds. */
  readonly times: readonly number[]
}

/** Always has `inFlight` of it under way. */
export async function measureRate(
  work: () => Promise<unknown>,
  { inFlight, durationMs }: { readonly inFlight: number; readonly durationMs: number },
): Promise<Rate> {
  const times: number[] = []
  const begin = performance.now()
  const until = begin + durationMs
  const worker = async () => {
    for (let sent = performance.now(); sent < until; sent = performance.now()) {
      await work()
      times.push(performance.now() - sent)
    }
  }
  await Promise.all(Array.from({ length: inFlight }, worker))
  return { perSecond: (times.length * 1_000) / (performance.now() - begin), times }
}
