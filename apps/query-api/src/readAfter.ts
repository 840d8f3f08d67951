// Read your writes: a GET that names a position waits until the read model has come that far.
import { setTimeout as sleep } from 'node:timers/promises'
import { liveCheckpoint } from '@paylog/projections/checkpoints'
import type { Queryable } from '@paylog/projections/namedQuery'
import type { preHandlerAsyncHookHandler } from 'fastify'
import { Type } from 'typebox'

/** A read is answered after this long whatever the read model has; design section 4. */
const patienceMs = 2_000
/** The projection commits within a few milliseconds of the write; looking more often than this would not be noticed. */
const lookMs = 4

export const ReadAfterHeaders = Type.Object({
  'x-read-after': Type.Optional(
    Type.String({
      pattern: '^[0-9]{1,20}$',
      description: 'Wait, at most 2 s, until the position that a write answered as X-Event-Position can be read',
    }),
  ),
})

export type CheckpointWatcher = {
  /** Whether the read model has everything up to here, now or before patience runs out. */
  reaches(position: bigint): Promise<boolean>
}

/** One watcher serves all requests of a process: it looks at the checkpoint only while somebody waits for it. */
export function createCheckpointWatcher(read: () => Promise<bigint | undefined>): CheckpointWatcher {
  const waiting = new Set<{ readonly position: bigint; readonly reached: () => void }>()
  let known = -1n
  let looking = false

  async function look(): Promise<void> {
    looking = true
    while (waiting.size > 0) {
      // A database that does not answer is no reason to refuse: the query behind the wait will tell.
      known = (await read().catch(() => undefined)) ?? known
      for (const { position, reached } of waiting) if (position <= known) reached()
      if (waiting.size > 0) await sleep(lookMs)
    }
    looking = false
  }

  return {
    async reaches(position) {
      // Checkpoints never go back, so what was seen once holds.
      if (position <= known) return true
      const { promise, resolve } = Promise.withResolvers<boolean>()
      const waiter = { position, reached: () => settle(true) }
      const givingUp = setTimeout(() => settle(false), patienceMs)
      const settle = (reached: boolean) => {
        clearTimeout(givingUp)
        waiting.delete(waiter)
        resolve(reached)
      }
      waiting.add(waiter)
      if (!looking) void look()
      return await promise
    },
  }
}

/**
 * A `preHandler` hook for routes whose headers are `ReadAfterHeaders`: waits for `X-Read-After`, and marks the answer
 * with `X-Read-Stale: true` when the read model did not come that far in time.
 */
export function readAfter(db: Queryable, projectionName: string): preHandlerAsyncHookHandler {
  const watcher = createCheckpointWatcher(async () => (await liveCheckpoint(db, projectionName))?.position?.commit)
  return async (request, reply) => {
    const wanted = request.headers['x-read-after']
    if (typeof wanted === 'string' && !(await watcher.reaches(BigInt(wanted)))) reply.header('x-read-stale', 'true')
  }
}
