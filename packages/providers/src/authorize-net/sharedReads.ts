// Answers of the gateway, kept for a while and shared by all that may take an answer that old.

const keptMs = 10 * 60 * 1000

/**
 * @param asOf when the read must have begun at the earliest, in ms since 1970 by our clock
 * @param ask reads it; one that fails is not kept
 */
export type CachedRead<Answer> = (key: string, asOf: number, read: () => Promise<Answer>) => Promise<Answer>

/** @param maxKept how many answers are kept at most; the oldest go first */
export function createReadCache<Answer>(maxKept: number): CachedRead<Answer> {
  const kept = new Map<string, { readonly beganAt: number; readonly answer: Promise<Answer> }>()
  return (key, asOf, ask) => {
    const beganAt = Date.now()
    const known = kept.get(key)
    if (known && known.beganAt >= asOf) return known.answer
    const read = { beganAt, answer: ask() }
    kept.delete(key)
    kept.set(key, read)
    for (const [other, { beganAt: at }] of kept)
      if (kept.size > maxKept || beganAt - at > keptMs) kept.delete(other)
      else break
    read.answer.catch(() => {
      if (kept.get(key) === read) kept.delete(key)
    })
    return read.answer
  }
}
