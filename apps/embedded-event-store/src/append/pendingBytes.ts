// A budget of memory that several calls share.

export type PendingBytes = {
  /** Whether there was room. Nothing is taken when there was not. */
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
