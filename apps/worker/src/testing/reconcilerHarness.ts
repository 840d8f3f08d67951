// The reconciler on a real event store and database, with a clock that the test can advance.

import { createFakeProvider } from '@paylog/commands/testing/fakeProvider'
import { createEventStore } from '@paylog/event-store/eventStore'
import type { StreamName } from '@paylog/event-store/streamName'
import type { Provider } from '@paylog/providers/provider'
import { createPool } from '@paylog/runtime/postgres/pool'
import { createLog } from '@paylog/runtime/telemetry/log'
import { startEventStore, type TestEventStore } from '@paylog/testing/eventStore'
import { waitFor } from '@paylog/testing/waitFor'
import { migrateWebhooks } from '@paylog/webhooks/deliveries/migrate'
import { followUpsSubscription, readCheckpoint } from '@paylog/webhooks/deliveries/subscriptions/checkpoint'
import { recordPayments } from '@paylog/webhooks/testing/paymentFixture'
import type { Test } from 'tap'
import { startReconciler } from '../reconciler/reconciler.ts'
import { createTrustedClock, type TrustedClock } from '../trustedClock.ts'

export const reconcileAfterMs = 3_600_000
const stopTimeoutMs = 2_000

/** For tests that advance the local clock alone. */
export const agreeingClock: TrustedClock = { agrees: async () => true, isWaiting: () => false, differing: () => [] }

let providerCount = 0

/** A provider with an id that no other has, so that the workers of one test ignore the payments of another. */
export function fakeProvider(t: Test) {
  const { fake, provider } = createFakeProvider(t, { id: `fake-${providerCount++}`, captures: true })
  return { fake, provider: { ...provider, findIntents: null } }
}

/**
 * @param log the event store and database to use, for a test that interrupts them
 * @param comparesClocks whether the local clock, which the test can advance, is compared with the real one
 */
export async function createReconcilerHarness(
  t: Test,
  log?: Pick<TestEventStore, 'connectionString' | 'databaseUrl' | 'keys'>,
  comparesClocks = false,
) {
  const { connectionString, databaseUrl, keys } = log ?? (await startEventStore(t))
  const store = createEventStore({ connectionString, keys })
  const lines: string[] = []
  const logger = createLog({ app: 'test', level: 'info' }, { write: (line) => void lines.push(line) })
  const pool = createPool({ databaseUrl, applicationName: 'test', max: 10, log: logger })
  await migrateWebhooks(pool)
  t.teardown(async () => {
    await store.close()
    await pool.end()
  })
  let aheadMs = 0
  const now = () => new Date(Date.now() + aheadMs)

  return {
    ...recordPayments(store, now),
    connectionString,
    store,
    keys,
    pool,
    databaseUrl,
    /** Log lines. */
    lines,
    now,
    forward(ms: number): void {
      aheadMs += ms
    },

    /** Starts the reconciler of a worker. It stops with the test or by `stop`. */
    async startWorker(t: Test, ...enabled: readonly Provider[]): Promise<{ stop(): Promise<void> }> {
      const stopping = new AbortController()
      const { signal } = stopping
      const providers = new Map(enabled.map((provider) => [provider.id, provider]))
      const givingUp = new AbortController()
      const options = {
        pool,
        databaseUrl,
        store,
        providers,
        reconcileAfterMs,
        clock: comparesClocks
          ? createTrustedClock({ pool, store, providers, now, log: logger, holdsForMs: 300 })
          : agreeingClock,
        now,
        signal,
        givingUp: givingUp.signal,
        log: logger,
      }
      const { reading, reconciling } = await startReconciler(options)
      const stop = async () => {
        stopping.abort()
        const timer = setTimeout(() => givingUp.abort(), stopTimeoutMs)
        await Promise.all([reading, reconciling.catch(() => undefined)])
        clearTimeout(timer)
      }
      t.teardown(stop)
      return { stop }
    },

    /** The follow-up of a stream, after the planner has read the stream. */
    async entry(stream: StreamName): Promise<Entry | undefined> {
      const { position: last } = (await store.readStream(stream)).at(-1) ?? {}
      await waitFor(
        async () => ((await readCheckpoint(pool, followUpsSubscription))?.commit ?? -1n) >= (last?.commit ?? 0n),
        { what: `the planner to read ${stream}` },
      )
      const { rows } = await pool.query<Entry>(
        'select finish_at finish, ask_at ask, watch_at watch, expire_at expire, pauses, lease from webhooks.follow_ups where subject = $1',
        [stream],
      )
      return rows[0]
    },
  }
}

type Entry = {
  readonly finish: Date | null
  readonly ask: Date | null
  readonly watch: Date | null
  readonly expire: Date | null
  readonly pauses: number
  readonly lease: string | null
}
