// The writer's memory of stream heads, bounded, least recently used first out.
import type { StreamHead } from './streamHead.ts'

/** Metadata may be as large as an append. With more of it than this a head is read from the log whenever it is needed. */
const maxMarkBytes = 4_096

export type HeadCache = {
  get(stream: string): StreamHead | undefined
  /**
   * Only the writer may call this: a head read while a commit is under way is already stale. A head that is too large is
   * forgotten.
   */
  set(stream: string, head: StreamHead): void
  clear(): void
}

export function createHeadCache(maxStreams: number): HeadCache {
  const heads = new Map<string, StreamHead>()
  return {
    get(stream) {
      const head = heads.get(stream)
      if (head === undefined) return undefined
      heads.delete(stream)
      heads.set(stream, head)
      return head
    },
    set(stream, head) {
      heads.delete(stream)
      if (head.deletionMark !== undefined && head.deletionMark.length > maxMarkBytes) return
      heads.set(stream, head)
      if (heads.size <= maxStreams) return
      for (const oldest of heads.keys()) {
        heads.delete(oldest)
        return
      }
    },
    clear: () => heads.clear(),
  }
}
