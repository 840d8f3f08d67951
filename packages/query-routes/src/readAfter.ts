// Read your writes: a GET that names a position waits until the read model has come that far.
import { setTimeout as sleep } from 'node:timers/promises'
import { livePositions } from '@paylog/projections/apply/checkpoints'
import type { Queryable } from '@paylog/projections/queries/namedQuery'
import { notifyWaitingReads } from '@paylog/projections/waitingReads'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'

/** A read is answered after this long whatever the read model has; design section 4. */
const patienceMs = 2_000
/** The projection commits within a few milliseconds of the write; looking more often than this would not be noticed. */
const checkIntervalMs = 4

/** How a position is written. */
export const positionPattern = '^[0-9]{1,20}$'

export const ReadAfterHeaders = Type.Object({
  'x-read-after': Type.Optional(
    Type.String({
      pattern: positionPattern,
      description: 'Wait, at most 2 s, until the position that a write answered as X-Event-Position can be read',
    }),
  ),
})

/** Of answers to such requests. */
export const staleHeader = {
  'X-Read-Stale': Type.Literal('true', {
    description:
      'Only when the position of X-Read-After was not reached in time, so that the answer may be an older one',
  }),
}

/**
 * An event of a projection's own is there at the second look, as a rule. What is missing then may be an event of others,
 * which the projection is not told of by itself; what is missing long after that may have been recorded since.
 */
const secondCheck = 2
const checksPerAnnouncement = 12

type WaitTarget = { readonly position: bigint; readonly projections: readonly string[] }
type Waiter = WaitTarget & { readonly reached: () => void; looks: number }

export type CheckpointWatcher = {
  /** Whether all these projections have everything up to here, now or before patience runs out. */
  reaches(position: bigint, projections: readonly string[]): Promise<boolean>
}

/**
 * One watcher serves all requests of a process: it looks at the checkpoints only while somebody waits for one of them.
 * @param read tells where the projections stand
 * @param announce tells the projector which of them are waited for, if it should not have noticed
 */
export function createCheckpointWatcher(
  read: () => Promise<ReadonlyMap<string, bigint>>,
  announce: (projections: readonly string[]) => Promise<void>,
): CheckpointWatcher {
  const waiting = new Set<Waiter>()
  let known: ReadonlyMap<string, bigint> = new Map()
  let isChecking = false

  const missing = ({ position, projections }: WaitTarget) =>
    projections.filter((name) => position > (known.get(name) ?? -1n))

  async function check(): Promise<void> {
    isChecking = true
    while (waiting.size > 0) {
      // A database that does not answer is no reason to refuse: the query behind the wait will tell.
      known = (await read().catch(() => undefined)) ?? known
      const late = new Set<string>()
      for (const waiter of waiting) {
        const names = missing(waiter)
        waiter.looks += 1
        if (names.length === 0) waiter.reached()
        else if (waiter.looks % checksPerAnnouncement === secondCheck) for (const name of names) late.add(name)
      }
      if (late.size > 0) await announce([...late]).catch(() => undefined)
      if (waiting.size > 0) await sleep(checkIntervalMs)
    }
    isChecking = false
  }

  return {
    async reaches(position, projections) {
      // Checkpoints never go back, so what was seen once holds.
      if (missing({ position, projections }).length === 0) return true
      const { promise, resolve } = Promise.withResolvers<boolean>()
      const waiter: Waiter = { position, projections, looks: 0, reached: () => settle(true) }
      const givingUp = setTimeout(() => settle(false), patienceMs)
      const settle = (reached: boolean) => {
        clearTimeout(givingUp)
        waiting.delete(waiter)
        resolve(reached)
      }
      waiting.add(waiter)
      if (!isChecking) void check()
      return await promise
    },
  }
}

/**
 * Makes `preHandler` hooks for routes whose headers are `ReadAfterHeaders`. Such a hook waits for `X-Read-After`, and marks
 * the answer with `X-Read-Stale: true` when one of the named projections did not come that far in time.
 */
export type ReadAfter = (
  ...projections: readonly [string, ...string[]]
) => (request: Pick<FastifyRequest, 'headers'>, reply: Pick<FastifyReply, 'header'>) => Promise<void>

export function createReadAfter(db: Queryable): ReadAfter {
  const watcher = createCheckpointWatcher(
    () => livePositions(db),
    (projections) => notifyWaitingReads(db, projections),
  )
  return (...projections) =>
    async (request, reply) => {
      const wanted = request.headers['x-read-after']
      if (typeof wanted !== 'string') return
      if (!(await watcher.reaches(BigInt(wanted), projections))) reply.header('x-read-stale', 'true')
    }
}
