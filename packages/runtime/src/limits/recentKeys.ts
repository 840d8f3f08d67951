// A memory of the keys that were seen last, with a bound.

export type RecentKeys<Value> = {
  get(key: string): Value | undefined
  set(key: string, value: Value): void
  delete(key: string): void
}

const maxKeys = 50_000

/**
 * Keeps at least the last 25,000 keys. Two halves: when the later one is full, the earlier one is dropped. Dropping the
 * oldest key alone would take ever longer, as a Map leaves holes where its first entries were.
 */
export function recentKeys<Value>(): RecentKeys<Value> {
  let earlier = new Map<string, Value>()
  let later = new Map<string, Value>()
  return {
    get: (key) => later.get(key) ?? earlier.get(key),
    set(key, value) {
      later.set(key, value)
      if (later.size >= maxKeys / 2) [earlier, later] = [later, new Map()]
    },
    delete(key) {
      earlier.delete(key)
      later.delete(key)
    },
  }
}
