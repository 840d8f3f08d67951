// The keys that a process has used last.
import type { KeyObject } from 'node:crypto'
import type { DataKey } from '@paylog/event-store/codec/dataKeys'

export type KeyCache = {
  /** The present key of a name. */
  named(name: string): DataKey | undefined
  /** Null when it was destroyed or never existed, undefined when it is not cached. */
  known(id: string): KeyObject | null | undefined
  add(id: string, key: KeyObject | null, name?: string): void
  /** A destroyed key stays destroyed: a query that began earlier cannot bring it back. */
  destroyed(id: string): void
  /** Whether the present key of this name is recorded as seen with this e-mail. */
  wasSeen(name: string, email: string): boolean
  addSeen(name: string, email: string, id: string): void
}

/** @param max entries of each kind; those that were used least recently are dropped first */
export function createKeyCache(max: number): KeyCache {
  const keys = createLru<KeyObject | null>(max)
  const ids = createLru<string>(max)
  const seen = createLru<string>(max)

  function named(name: string): DataKey | undefined {
    const id = ids.get(name)
    if (id === undefined) return undefined
    const key = keys.get(id)
    return key ? { id, key } : undefined
  }

  return {
    named,
    known: (id) => keys.get(id),
    add(id, key, name) {
      if (keys.get(id) === null) return
      keys.set(id, key)
      if (name !== undefined) ids.set(name, id)
    },
    destroyed: (id) => keys.set(id, null),
    wasSeen(name, email) {
      const id = seen.get(pairOf(name, email))
      return id !== undefined && id === named(name)?.id
    },
    addSeen: (name, email, id) => seen.set(pairOf(name, email), id),
  }
}

const pairOf = (name: string, email: string) => JSON.stringify([name, email])

/** A map keeps its entries in the order of insertion, so the first is the one that was used least recently. */
function createLru<Value>(max: number) {
  const entries = new Map<string, Value>()
  const set = (key: string, value: Value) => {
    entries.delete(key)
    entries.set(key, value)
    if (entries.size <= max) return
    for (const oldest of entries.keys()) {
      entries.delete(oldest)
      return
    }
  }
  return {
    set,
    get(key: string): Value | undefined {
      const value = entries.get(key)
      if (value !== undefined) set(key, value)
      return value
    },
  }
}
