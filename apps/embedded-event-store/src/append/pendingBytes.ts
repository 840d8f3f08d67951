// A memory budget shared by several calls.

export type PendingBytes = {
  /** Reserves bytes; returns false, and reserves nothing, when the budget would be exceeded. */
  take(bytes: number): boolean
  release(bytes: number): void
}

export function createPendingBytes(maxBytes: number): PendingBytes {
  let held = 0
  return {
    take(bytes) {
      if (held + bytes > maxBytes) return false
      held += bytes
      return true
    },
    release(bytes) {
      held -= bytes
    },
  }
}
