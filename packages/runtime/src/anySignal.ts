// A signal that aborts when one of several does.

/** Kept while the signal is, because the signal itself does not keep them. */
const sourcesOf = new WeakMap<AbortSignal, readonly AbortSignal[]>()

/**
 * As `AbortSignal.any`. In Node 24.16 to 24.21, a signal of that to which nobody listens looks at its sources when it is
 * asked, and forgets the abort of one that was collected before (nodejs/node#65995): work that was stopped went on.
 */
export function anySignal(...sources: readonly AbortSignal[]): AbortSignal {
  // biome-ignore lint/plugin: the only place that keeps the sources.
  const signal = AbortSignal.any([...sources])
  sourcesOf.set(signal, sources)
  return signal
}
