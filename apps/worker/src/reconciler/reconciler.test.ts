import { createFakeProvider } from '@paylog/deliveries/testing/fakeProvider'
import { workerDatabase } from '@paylog/deliveries/testing/workerDatabase'
import { createLog } from '@paylog/runtime/telemetry/log'
import { waitFor } from '@paylog/testing/waitFor'
import t, { type Test } from 'tap'
import type { FollowUpHandler } from './followUpHandler.ts'
import { createFollowUps } from './followUps.ts'
import { createReconciler } from './reconciler.ts'

const lines: string[] = []
const log = createLog({ app: 'test' }, { write: (line) => void lines.push(line) })
const { pool } = await workerDatabase(t, { max: 4, log })

const leaseMs = 1_500
const followUps = createFollowUps(pool, { leaseMs })

/** Puts entries on the list that are due now. */
const due = (providerId: string, count: number) =>
  pool.query(
    `insert into webhooks.follow_ups (subject, provider_id, ask_at, pauses, correlation_id, event_id)
     select $1 || '-' || n, $1, now() - interval '1 s', 0, 'request-1', gen_random_uuid() from generate_series(1, $2::int) n`,
    [providerId, count],
  )

async function leasedUntil(): Promise<number> {
  const { rows } = await pool.query<{ leased_until: Date }>('select leased_until from webhooks.follow_ups')
  return rows[0]?.leased_until.getTime() ?? 0
}

/** A sweeper that ends with the test. */
function runReconciler(
  t: Test,
  work: FollowUpHandler,
  options: { provider: ReturnType<typeof createFakeProvider>; renewMs?: number },
) {
  const { provider, renewMs = 100 } = options
  const stopping = new AbortController()
  const providers = new Map([[provider.id, provider]])
  const reconciler = createReconciler({ followUps, providers, work, renewMs, now: () => new Date(), log })
  const ended = reconciler.run(stopping.signal, new AbortController().signal)
  const stop = async () => {
    stopping.abort()
    await ended
  }
  t.teardown(stop)
  return { stop, wake: reconciler.wake }
}

t.test('what takes longer than a lease stays with who is at it', async (t) => {
  const provider = createFakeProvider(t)
  const begun: string[] = []
  const release = Promise.withResolvers<void>()
  const work: FollowUpHandler = async ({ subject }) => {
    begun.push(subject)
    await release.promise
    return 'over'
  }
  runReconciler(t, work, { provider })
  runReconciler(t, work, { provider })
  await due(provider.id, 1)
  await waitFor(() => begun.length > 0, { what: 'the beginning' })
  const first = await leasedUntil()
  await waitFor(async () => (await leasedUntil()) > first + leaseMs, { what: 'the lease to be renewed for long' })
  release.resolve()
  await waitFor(async () => (await followUps.waiting([])).length === 0, { what: 'the end' })
  t.equal(begun.length, 1)
})

t.test('what is held by one who is frozen goes to another when the lease has run out', async (t) => {
  const provider = createFakeProvider(t)
  const thaw = Promise.withResolvers<void>()
  const begun: string[] = []
  const frozen: FollowUpHandler = async () => {
    begun.push('frozen')
    await thaw.promise
    return { times: { finish: null, ask: new Date(), watch: null }, pauses: 9 }
  }
  const other: FollowUpHandler = async () => {
    begun.push('other')
    return 'over'
  }
  await due(provider.id, 1)
  const { stop } = runReconciler(t, frozen, { provider, renewMs: 1_000_000 })
  await waitFor(() => begun.length === 1, { what: 'the one that freezes' })
  const stopped = stop()
  runReconciler(t, other, { provider })
  await waitFor(async () => (await followUps.waiting([])).length === 0, { what: 'the end' })
  t.same(begun, ['frozen', 'other'])
  thaw.resolve()
  await stopped
  t.same(await followUps.waiting([]), [], 'and what it says in the end changes nothing')
})

t.test('two sweepers share the work, each entry once, and each a bounded number at a time', async (t) => {
  const provider = createFakeProvider(t)
  const done: string[] = []
  let atOnce = 0
  let most = 0
  const work: FollowUpHandler = async ({ subject }) => {
    atOnce++
    most = Math.max(most, atOnce)
    await new Promise((resolve) => setTimeout(resolve, 20))
    atOnce--
    done.push(subject)
    return 'over'
  }
  await due(provider.id, 200)
  runReconciler(t, work, { provider })
  runReconciler(t, work, { provider })
  // By a look every second it would take twelve.
  await waitFor(() => done.length >= 200, { what: 'all of them', timeoutMs: 8_000 })
  await waitFor(async () => (await followUps.waiting([])).length === 0, { what: 'the end of the list' })
  t.equal(done.length, 200)
  t.equal(new Set(done).size, 200)
  t.ok(most <= 16, `${most} at once`)
})

t.test('a database that is away for a moment stops nothing', async (t) => {
  const provider = createFakeProvider(t)
  const done: string[] = []
  const work: FollowUpHandler = async ({ subject }) => {
    done.push(subject)
    return 'over'
  }
  runReconciler(t, work, { provider })
  await pool.query('alter table webhooks.follow_ups rename to away')
  await waitFor(() => lines.some((line) => line.includes('could not take')), { what: 'a look in vain' })
  await pool.query('alter table webhooks.away rename to follow_ups')
  await due(provider.id, 1)
  await waitFor(() => done.length === 1, { what: 'the follow-up' })
})

t.test('a stop takes nothing new and waits for what is under way', async (t) => {
  const provider = createFakeProvider(t)
  const release = Promise.withResolvers<void>()
  let begun = 0
  const work: FollowUpHandler = async () => {
    begun++
    await release.promise
    return 'over'
  }
  await due(provider.id, 20)
  const { stop, wake } = runReconciler(t, work, { provider })
  await waitFor(() => begun === 8, { what: 'a full lane' })
  const stopped = stop()
  release.resolve()
  wake()
  await stopped
  t.equal(begun, 8)
  t.same(await followUps.waiting([]), [{ provider_id: provider.id, follow_ups: 12 }])
})
