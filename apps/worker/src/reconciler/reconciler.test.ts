import type { Provider } from '@paylog/providers/provider'
import { createLog } from '@paylog/runtime/telemetry/log'
import { waitFor } from '@paylog/testing/waitFor'
import { workerDatabase } from '@paylog/webhooks/testing/workerDatabase'
import t, { type Test } from 'tap'
import { agreeingClock, fakeProvider } from '../testing/reconcilerHarness.ts'
import type { FollowUpHandler } from './followUpHandler.ts'
import { createFollowUps } from './followUps.ts'
import { createReconciler } from './reconciler.ts'

const lines: string[] = []
const log = createLog({ app: 'test' }, { write: (line) => void lines.push(line) })
const { pool } = await workerDatabase(t, { max: 4, log })

const leaseMs = 1_500
const followUps = createFollowUps(pool, { leaseMs })

/** Adds follow-ups that are due now. */
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

/** A reconciler that stops with the test. */
function runReconciler(t: Test, work: FollowUpHandler, options: { provider: Provider; renewMs?: number }) {
  const { provider, renewMs = 100 } = options
  const stopping = new AbortController()
  const providers = new Map([[provider.id, provider]])
  const reconciler = createReconciler({
    followUps,
    providers,
    work,
    renewMs,
    clock: agreeingClock,
    now: () => new Date(),
    log,
  })
  const ended = reconciler.run(stopping.signal, new AbortController().signal)
  const stop = async () => {
    stopping.abort()
    await ended
  }
  t.teardown(stop)
  return { stop, wake: reconciler.wake }
}

t.test('a follow-up that takes longer than its lease stays with its worker', async (t) => {
  const { provider } = fakeProvider(t)
  const started: string[] = []
  const release = Promise.withResolvers<void>()
  const work: FollowUpHandler = async ({ subject }) => {
    started.push(subject)
    await release.promise
    return 'over'
  }
  runReconciler(t, work, { provider })
  runReconciler(t, work, { provider })
  await due(provider.id, 1)
  await waitFor(() => started.length > 0, { what: 'the beginning' })
  const first = await leasedUntil()
  await waitFor(async () => (await leasedUntil()) > first + leaseMs, { what: 'the lease to be renewed for long' })
  release.resolve()
  await waitFor(async () => (await followUps.waiting([])).length === 0, { what: 'the end' })
  t.equal(started.length, 1)
})

t.test('a follow-up of a frozen worker goes to another one when its lease expires', async (t) => {
  const { provider } = fakeProvider(t)
  const thaw = Promise.withResolvers<void>()
  const started: string[] = []
  const frozen: FollowUpHandler = async () => {
    started.push('frozen')
    await thaw.promise
    return { times: { finish: null, ask: new Date(), watch: null, expire: null }, pauses: 9 }
  }
  const other: FollowUpHandler = async () => {
    started.push('other')
    return 'over'
  }
  await due(provider.id, 1)
  const { stop } = runReconciler(t, frozen, { provider, renewMs: 1_000_000 })
  await waitFor(() => started.length === 1, { what: 'the worker that freezes' })
  const stopped = stop()
  runReconciler(t, other, { provider })
  await waitFor(async () => (await followUps.waiting([])).length === 0, { what: 'the end' })
  t.same(started, ['frozen', 'other'])
  thaw.resolve()
  await stopped
  t.same(await followUps.waiting([]), [], 'the late result changes nothing')
})

t.test('two reconcilers share the follow-ups, handle each once and respect the concurrency limit', async (t) => {
  const { provider } = fakeProvider(t)
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
  // By polling every second it would take twelve seconds.
  await waitFor(() => done.length >= 200, { what: 'all follow-ups', timeoutMs: 8_000 })
  await waitFor(async () => (await followUps.waiting([])).length === 0, { what: 'the list to be empty' })
  t.equal(done.length, 200)
  t.equal(new Set(done).size, 200)
  t.ok(most <= 16, `${most} concurrently`)
})

t.test('the reconciler continues after a database error', async (t) => {
  const { provider } = fakeProvider(t)
  const done: string[] = []
  const work: FollowUpHandler = async ({ subject }) => {
    done.push(subject)
    return 'over'
  }
  runReconciler(t, work, { provider })
  await pool.query('alter table webhooks.follow_ups rename to away')
  await waitFor(() => lines.some((line) => line.includes('could not take')), { what: 'a failed look' })
  await pool.query('alter table webhooks.away rename to follow_ups')
  await due(provider.id, 1)
  await waitFor(() => done.length === 1, { what: 'the follow-up' })
})

t.test('a stopping reconciler takes nothing new and waits for follow-ups in progress', async (t) => {
  const { provider } = fakeProvider(t)
  const release = Promise.withResolvers<void>()
  let started = 0
  const work: FollowUpHandler = async () => {
    started++
    await release.promise
    return 'over'
  }
  await due(provider.id, 20)
  const { stop, wake } = runReconciler(t, work, { provider })
  await waitFor(() => started === 8, { what: 'the concurrency limit to be reached' })
  const stopped = stop()
  release.resolve()
  wake()
  await stopped
  t.equal(started, 8)
  t.same(await followUps.waiting([]), [{ provider_id: provider.id, follow_ups: 12 }])
})
