// Keys of personal data in memory, for tests without a database.
import { createHmac, createSecretKey, type KeyObject, randomBytes, randomUUID } from 'node:crypto'
import type { DataKey, DataKeys } from '../codec/dataKeys.ts'

/** Every key is known without being loaded. */
export function memoryKeys(): DataKeys {
  const byName = new Map<string, DataKey>()
  const byId = new Map<string, KeyObject | null>()
  const keyOf = (name: string): DataKey => {
    const present = byName.get(name)
    if (present !== undefined && byId.get(present.id)) return present
    const made = { id: randomUUID(), key: createSecretKey(randomBytes(32)) }
    byName.set(name, made)
    byId.set(made.id, made.key)
    return made
  }
  return {
    named: async (names) => names.map(keyOf),
    seen: async () => undefined,
    load: async () => undefined,
    known: (id) => byId.get(id) ?? null,
    hash: (text) => createHmac('sha256', 'memory').update(text).digest(),
    async destroy(ids) {
      for (const id of ids) byId.set(id, null)
    },
  }
}
