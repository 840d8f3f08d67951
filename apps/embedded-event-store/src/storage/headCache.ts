// The writer's bounded LRU cache of stream heads.
import type { StreamHead } from './streamHead.ts'

/** Heads with larger metadata are not cached, because metadata may be as large as an append. */
const maxMarkBytes = 4_096

export type HeadCache = {
  get(stream: string): StreamHead | undefined
  /**
   * Only the writer may call this, because a head that is read during a commit is stale. A head that is too large is
   * removed.
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
