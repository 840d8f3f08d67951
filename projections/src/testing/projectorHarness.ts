// An event store, a read model database, and projectors between them.
import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { migrateAudit } from '@paylog/audit-log/migrate'
import { userOwner } from '@paylog/domain/actor'
import { erasureFold } from '@paylog/domain/erasures'
import { createEventStore } from '@paylog/event-store/eventStore'
import { erasureStream } from '@paylog/event-store/streamName'
import { migratePrivacy } from '@paylog/privacy/migrate'
import { addressList } from '@paylog/queries/addresses/queries'
import { readPage } from '@paylog/queries/lists/lists'
import { paymentMethodList } from '@paylog/queries/payment-methods/queries'
import { paymentList } from '@paylog/queries/payments/queries'
import type { Queryable } from '@paylog/runtime/postgres/runQuery'
import { startTestKeys } from '@paylog/testing/dataKeys'
import { startEventStore } from '@paylog/testing/eventStore'
import { startProcess, type TestProcess } from '@paylog/testing/processes'
import { testCycles } from '@paylog/testing/testEnvironment'
import { waitFor } from '@paylog/testing/waitFor'
import type { Test } from 'tap'
import { readModelDatabase } from './projectionHarness.ts'
import { everyPayment } from './readers.ts'
import { createSeededRandom } from './seededRandom.ts'
import { openPayment, startTraffic } from './traffic.ts'

const metadata = { correlationId: 'c', causationId: 'c', actor: 'worker' }
const script = new URL('../../../apps/projector/src/main.ts', import.meta.url)
const replayScript = new URL('./replayProgram.ts', import.meta.url)

/**
 * Projectors run when a test starts them.
 * @param log the event store, by default in the test's own process
 */
export async function projectorHarness(t: Test, log?: { readonly connectionString: string }) {
  const { connectionString } = log ?? (await startEventStore(t))
  const { databaseUrl, pool } = await readModelDatabase(t)
  await migrateAudit(pool)
  // Where the projector's keys are.
  await migratePrivacy(pool)
  const keys = await startTestKeys(t, databaseUrl)
  const store = createEventStore({ connectionString, keys })
  t.teardown(() => store.close())
  const common = { DATABASE_URL: databaseUrl, EVENTSTORE_URL: connectionString, LOG_LEVEL: 'info' }

  return {
    connectionString,
    databaseUrl,
    pool,
    keys,
    store,
    startProjector: (env: Readonly<Record<string, string>> = {}) =>
      startProcess(t, { script, env: { ...common, ...env } }),
    /** Starts the projector of a later program version, for one projection. */
    startLater: (projection = 'payments') =>
      startProcess(t, { script: replayScript, env: { ...common, TASK: 'later', PROJECTION: projection } }),
    /** Prints its phases, the differences and its result. */
    startReplay: (task: 'rebuild' | 'verify', projection: string) =>
      startProcess(t, { script: replayScript, env: { ...common, TASK: task, PROJECTION: projection } }),
    /** Records that a user is forgotten. @returns the position */
    async forget(user: string) {
      const key_ids = [...(await keys.find({ user }))]
      const erasure_id = randomUUID()
      const data = { erasure_id, occurred_at: new Date().toISOString(), key_ids }
      const { position } = await store.handle({
        ...{ stream: erasureStream(erasure_id), fold: erasureFold, metadata },
        decide: () => [{ type: 'SubjectErased' as const, data }],
      })
      return position
    },
    /** Records a new payment with its intent. */
    pay: () => openPayment(store),
    /** The ids of all payments, once there are this many. */
    projected: (count: number) =>
      waitFor(
        async () => {
          const { items, total } = await readPage(pool, paymentList, everyPayment)
          return total >= count && items.map(({ id }) => id).toSorted()
        },
        { what: `${count} payments in the read model` },
      ),
  }
}

type ProjectorHarness = Awaited<ReturnType<typeof projectorHarness>>

/** Kills the first of two projectors under load, several times, and starts another one. @returns those that run */
export async function killUnderLoad(
  t: Test,
  { store, startProjector }: ProjectorHarness,
  { longestPauseMs, env = {} }: { readonly longestPauseMs: number; readonly env?: Readonly<Record<string, string>> },
): Promise<TestProcess[]> {
  const { below } = createSeededRandom(t)
  const traffic = startTraffic(t, store)
  let running = [await startProjector(env), await startProjector(env)]
  const kills = testCycles(2)
  for (let round = 0; round < kills; round += 1) {
    // At a random point within a batch.
    await pause(below(longestPauseMs))
    const [first, ...others] = running
    await first?.kill('SIGKILL')
    running = [...others, await startProjector(env)]
  }
  t.ok((await traffic.stop()) > kills, 'events were recorded meanwhile')
  return running
}

/** Counts the visible methods and addresses. */
export async function countsOf(pool: Queryable): Promise<{ methods: number; addresses: number }> {
  const query = { owner: userOwner('u1'), offset: 0, limit: 1 }
  const { total: methods } = await readPage(pool, paymentMethodList, query)
  const { total: addresses } = await readPage(pool, addressList, query)
  return { methods, addresses }
}
