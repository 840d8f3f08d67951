// The writer's memory of stream heads, bounded, least recently used first out.
import type { StreamHead } from './streamHead.ts'

export type HeadCache = {
  get(stream: string): StreamHead | undefined
  /** Only the writer may call this: a head read while a commit is under way is already stale. */
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
