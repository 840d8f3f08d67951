// Values of the keys that a process has used last.

export type RecentKeys<Value> = {
  get(key: string): Value | undefined
  set(key: string, value: Value): void
  delete(key: string): void
}

/**
 * Keeps at least the last half of `max` keys, in two halves: when the later one is full, the earlier one is dropped. Deleting
 * single old keys would get slower and slower, because a Map leaves holes where its first entries were.
 */
export function recentKeys<Value>(max = 50_000): RecentKeys<Value> {
  let earlier = new Map<string, Value>()
  let later = new Map<string, Value>()
  const set = (key: string, value: Value) => {
    later.set(key, value)
    if (later.size >= max / 2) [earlier, later] = [later, new Map()]
  }
  return {
    get(key) {
      const recent = later.get(key)
      if (recent !== undefined) return recent
      const value = earlier.get(key)
      // So that a key in use is not dropped.
      if (value !== undefined) set(key, value)
      return value
    },
    set,
    delete(key) {
      earlier.delete(key)
      later.delete(key)
    },
  }
}
