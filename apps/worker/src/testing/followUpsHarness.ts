// The list of follow-ups in a database, fed with events by the test.

import type { Recorded } from '@paylog/event-store/codec/codec'
import { createLog } from '@paylog/runtime/telemetry/log'
import { matchList } from '@paylog/testing/assertions'
import { positionAt } from '@paylog/testing/positionAt'
import { recordedEvent } from '@paylog/webhooks/testing/paymentFixture'
import { workerDatabase } from '@paylog/webhooks/testing/workerDatabase'
import type { Test } from 'tap'
import { createFollowUps } from '../reconciler/followUps.ts'
import { createReconcilePlanner } from '../reconciler/reconciler.ts'

const reconcileAfterMs = 3_600_000
export const hour = reconcileAfterMs / 1_000
const start = new Date('2026-05-06T07:08:09.000Z')
/** The time this many seconds after the start. */
export const at = (seconds: number) => new Date(start.getTime() + seconds * 1_000)
export const none = { finish: null, ask: null, watch: null, expire: null }

const unused = async () => Promise.reject(new Error('a plan does not call the provider'))
const providers = new Map([['captures', { retrieveIntent: unused, captureIntent: unused }]])
const beginning = positionAt(0n)

export const stream = 'payment-1'
export const event = (type: Parameters<typeof recordedEvent>[0], seconds: number, of = stream) =>
  recordedEvent(type, { stream: of, at: at(seconds) })
/** A report that leads to a query at once. */
export const tiedReport = (seconds: number, of = stream) =>
  recordedEvent('ProviderEventIgnored', { stream: of, at: at(seconds), data: { reason: 'tie' } })

/** A follow-up, with its times in seconds after the start. */
type Row = {
  readonly subject: string
  readonly provider_id: string
  readonly payment_id: string | null
  readonly pauses: number
  readonly correlation_id: string
  readonly finish: number | null
  readonly ask: number | null
  readonly watch: number | null
  readonly expire: number | null
}

/** Opens a database whose list can be emptied, which is faster than a new database. */
export async function followUpsHarness(t: Test) {
  const log = createLog({ app: 'test', level: 'silent' })
  const { pool } = await workerDatabase(t, { max: 6, log })

  async function rows(): Promise<Row[]> {
    const found = await pool.query<Row>(
      `select subject, provider_id, payment_id, pauses, correlation_id,
         extract(epoch from finish_at - $1)::float8 finish, extract(epoch from ask_at - $1)::float8 ask,
         extract(epoch from watch_at - $1)::float8 watch, extract(epoch from expire_at - $1)::float8 expire
       from webhooks.follow_ups order by subject`,
      [start],
    )
    return found.rows
  }

  /** An empty list and a planner without checkpoint. */
  async function emptyList(leaseMs = 60_000) {
    await pool.query('truncate webhooks.follow_ups, webhooks.open_secrets, webhooks.checkpoints')
    const followUps = createFollowUps(pool, { leaseMs })
    const woken: number[] = []
    const dueNow = () => void woken.push(1)
    const newReader = () =>
      createReconcilePlanner({ followUps, rules: { providers, reconcileAfterMs }, now: () => start, dueNow })
    const reader = newReader()
    await reader.start()
    return {
      followUps,
      newReader,
      woken,
      read: (...events: Recorded[]) => reader.handle({ events, position: events.at(-1)?.position ?? beginning }),
      rows,
      async has(t: Test, expected: readonly Partial<Row>[], message?: string): Promise<void> {
        matchList(t, await rows(), expected, message)
      },
    }
  }

  return { pool, emptyList }
}
