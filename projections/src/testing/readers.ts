// Clients that read continuously and report inconsistent reads.
import { setTimeout as pause } from 'node:timers/promises'
import { userOwner } from '@paylog/domain/actor'
import { readItem, readPage } from '@paylog/queries/lists/lists'
import { paymentListWithMethods, singlePayment } from '@paylog/queries/payments/queries'
import { createPool } from '@paylog/runtime/postgres/pool'
import { createLog } from '@paylog/runtime/telemetry/log'
import type { Pool } from 'pg'
import type { Test } from 'tap'
import { livePositions } from '../apply/checkpoints.ts'

const owner = userOwner('u1')
/** All payments of the user of these tests. */
export const everyPayment = { owner, orderDir: 'asc', offset: 0, limit: 10_000 } as const
/** Without a pause, the readers would use most of a two-core machine. */
const readPauseMs = 20
const ranks: Readonly<Record<string, number>> = { pending: 0, processing: 1, succeeded: 2 }

export type Readers = {
  /** Stops the readers. @returns the errors and the number of reads */
  stop(): Promise<{ readonly wrong: readonly string[]; readonly reads: number; readonly longestMs: number }>
}

/** Starts readers, each with its own connection. They stop with the test at the latest. */
export function startReaders(t: Test, databaseUrl: string, count: number): Readers {
  const log = createLog({ app: 'test', level: 'silent' })
  const wrong: string[] = []
  let isStopped = false
  let reads = 0
  let longestMs = 0
  const readers = Array.from({ length: count }, async () => {
    const pool = createPool({ databaseUrl, applicationName: 'reader', max: 1, log })
    const check = createCheck(pool, (error) => wrong.push(error))
    while (!isStopped) {
      const startedAt = performance.now()
      await check().catch((error: unknown) => wrong.push(`failed: ${error}`))
      longestMs = Math.max(longestMs, performance.now() - startedAt)
      reads += 1
      await pause(readPauseMs)
    }
    await pool.end()
  })
  async function stop() {
    isStopped = true
    await Promise.all(readers)
    return { wrong, reads, longestMs }
  }
  t.teardown(stop)
  return { stop }
}

/** Reads everything and compares it with the previous read. */
function createCheck(pool: Pool, report: (error: string) => void): () => Promise<void> {
  const seen = new Map<string, number>()
  const revisions = new Map<string, bigint>()
  let positions: ReadonlyMap<string, bigint> = new Map()
  let reads = 0

  async function list(): Promise<void> {
    const { items, total } = await readPage(pool, paymentListWithMethods, everyPayment)
    const listed = new Map(items.map(({ id, status }) => [id, ranks[status] ?? -1]))
    if (listed.size !== items.length) report(`listed twice: ${items.length - listed.size}`)
    if (total !== items.length) report(`${total} in all, and ${items.length} listed`)
    for (const [id, rank] of seen) {
      const now = listed.get(id)
      if (now === undefined) report(`missing: ${id}`)
      else if (now < rank) report(`status went back: ${id} from ${rank} to ${now}`)
    }
    for (const [id, rank] of listed) seen.set(id, rank)
  }

  async function get(): Promise<void> {
    const id = [...seen.keys()][(reads * 7) % Math.max(seen.size, 1)]
    if (id === undefined) return
    const found = await readItem(pool, singlePayment, { id, owner })
    if (found === undefined) return report(`not found: ${id}`)
    if (found.revision < (revisions.get(id) ?? 0n)) report(`older than before: ${id}`)
    revisions.set(id, found.revision)
  }

  return async () => {
    reads += 1
    const now = await livePositions(pool)
    for (const [name, position] of positions) {
      if ((now.get(name) ?? -1n) < position) report(`${name} went back from ${position} to ${now.get(name)}`)
    }
    positions = now
    await (reads % 2 === 0 ? list() : get())
  }
}
