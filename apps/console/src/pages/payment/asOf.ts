// The moments at which a payment changed, and what was known at one of them.

type Timed = { readonly occurred_at: string }

/**
 * The distinct times at which something was added, in their order. An event may have an earlier time than the one before
 * it, because clocks differ; it then belongs to the moment of that one, as in the API.
 * @param entries in the order of the stream
 */
export function momentsOf(entries: readonly Timed[]): string[] {
  const moments: string[] = []
  let latest = Number.NEGATIVE_INFINITY
  for (const { occurred_at } of entries) {
    const time = Date.parse(occurred_at)
    if (time <= latest) continue
    latest = time
    moments.push(occurred_at)
  }
  return moments
}

/** The entries before the first one that occurred later. @param asOf all of them when undefined */
export function entriesUntil<Entry extends Timed>(
  entries: readonly Entry[],
  asOf: string | undefined,
): readonly Entry[] {
  if (asOf === undefined) return entries
  const time = Date.parse(asOf)
  const end = entries.findIndex(({ occurred_at }) => Date.parse(occurred_at) > time)
  return end < 0 ? entries : entries.slice(0, end)
}

/**
 * The place of a time on the slider: the last moment until then, or the number of moments for now.
 * @returns -1 before the first moment
 */
export function stepOf(moments: readonly string[], asOf: string | undefined): number {
  if (asOf === undefined) return moments.length
  const time = Date.parse(asOf)
  return moments.findLastIndex((moment) => Date.parse(moment) <= time)
}
