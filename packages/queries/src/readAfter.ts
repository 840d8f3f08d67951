// Read your writes: a GET with a position waits until the read model has reached it.
import { setTimeout as sleep } from 'node:timers/promises'
import { livePositions } from '@paylog/projections/apply/checkpoints'
import { notifyWaitingReads } from '@paylog/projections/waitingReads'
import type { Queryable } from '@paylog/runtime/postgres/runQuery'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'

/** After this long a read responds with the present state of the read model. */
const timeoutMs = 2_000
/** The projection commits within milliseconds of the write, so more frequent checks would not be noticed. */
const checkIntervalMs = 4

/** The format of a position. */
export const positionPattern = '^[0-9]{1,20}$'

export const ReadAfterHeaders = Type.Object({
  'x-read-after': Type.Optional(
    Type.String({
      pattern: positionPattern,
      description:
        'Wait up to 2 s until the read model has reached this position, which writes return as X-Event-Position',
    }),
  ),
})

/** The response header of reads that timed out. */
export const staleHeader = {
  'X-Read-Stale': Type.Literal('true', {
    description: 'Sent if the position of X-Read-After was not reached in time, so the response may be outdated',
  }),
}

/**
 * A projection's own events are usually applied by the second check. If the position is still missing, it may belong to an
 * event that the projection does not receive, so the projector is notified; later again, in case the notification was lost.
 */
const secondCheck = 2
const checksPerNotification = 12

type WaitTarget = { readonly position: bigint; readonly projections: readonly string[] }
type Waiter = WaitTarget & { readonly reached: () => void; checks: number }

export type CheckpointWatcher = {
  /** Whether all these projections reach the position within the timeout. */
  reaches(position: bigint, projections: readonly string[]): Promise<boolean>
}

/**
 * One watcher serves all requests of a process. It reads checkpoints only while requests wait.
 * @param read reads the positions of the projections
 * @param notify notifies the projector that reads wait for these projections
 */
export function createCheckpointWatcher(
  read: () => Promise<ReadonlyMap<string, bigint>>,
  notify: (projections: readonly string[]) => Promise<void>,
): CheckpointWatcher {
  const waiting = new Set<Waiter>()
  let known: ReadonlyMap<string, bigint> = new Map()
  let isChecking = false

  const missing = ({ position, projections }: WaitTarget) =>
    projections.filter((name) => position > (known.get(name) ?? -1n))

  async function check(): Promise<void> {
    isChecking = true
    while (waiting.size > 0) {
      // Ignore database errors here: the query after the wait will report them.
      known = (await read().catch(() => undefined)) ?? known
      const late = new Set<string>()
      for (const waiter of waiting) {
        const names = missing(waiter)
        waiter.checks += 1
        if (names.length === 0) waiter.reached()
        else if (waiter.checks % checksPerNotification === secondCheck) for (const name of names) late.add(name)
      }
      if (late.size > 0) await notify([...late]).catch(() => undefined)
      if (waiting.size > 0) await sleep(checkIntervalMs)
    }
    isChecking = false
  }

  return {
    async reaches(position, projections) {
      // Checkpoints never move back, so a reached position stays reached.
      if (missing({ position, projections }).length === 0) return true
      const { promise, resolve } = Promise.withResolvers<boolean>()
      const waiter: Waiter = { position, projections, checks: 0, reached: () => settle(true) }
      const timer = setTimeout(() => settle(false), timeoutMs)
      const settle = (reached: boolean) => {
        clearTimeout(timer)
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
 * Creates `preHandler` hooks for routes whose headers are `ReadAfterHeaders`. A hook waits for the position in
 * `X-Read-After`, and adds `X-Read-Stale: true` when one of the named projections did not reach it in time.
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
      const position = request.headers['x-read-after']
      if (typeof position !== 'string') return
      if (!(await watcher.reaches(BigInt(position), projections))) reply.header('x-read-stale', 'true')
    }
}
