// The keys that a process has used last.
import type { KeyObject } from 'node:crypto'
import type { DataKey } from '@paylog/event-store/codec/dataKeys'
import { recentKeys } from '@paylog/runtime/process/recentKeys'

export type KeyCache = ReturnType<typeof createKeyCache>

/** @param max entries of each kind; of those that are used again, at least the last half are kept */
export function createKeyCache(max: number) {
  const keys = recentKeys<KeyObject | null>(max)
  const ids = recentKeys<string>(max)
  const seen = recentKeys<string>(max)

  /** The present key of a name. */
  function named(name: string): DataKey | undefined {
    const id = ids.get(name)
    if (id === undefined) return undefined
    const key = keys.get(id)
    return key ? { id, key } : undefined
  }

  return {
    named,
    /** Null when it was destroyed or never existed, undefined when it is not cached. */
    known: (id: string) => keys.get(id),
    add(id: string, key: KeyObject | null, name?: string): void {
      if (keys.get(id) === null) return
      keys.set(id, key)
      if (name !== undefined) ids.set(name, id)
    },
    /** A destroyed key stays destroyed: a query that started earlier cannot bring it back. */
    destroyed: (id: string) => keys.set(id, null),
    /** Whether the present key of this name is recorded as seen with this e-mail. */
    wasSeen(name: string, email: string): boolean {
      const id = seen.get(pairOf(name, email))
      return id !== undefined && id === named(name)?.id
    },
    addSeen: (name: string, email: string, id: string) => seen.set(pairOf(name, email), id),
  }
}

/** No e-mail has a line break. */
const pairOf = (name: string, email: string) => `${email}\n${name}`
