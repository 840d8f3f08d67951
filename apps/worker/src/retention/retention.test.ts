import { randomUUID } from 'node:crypto'
import { userOwner } from '@paylog/domain/actor'
import type { PaymentEvent } from '@paylog/domain/payments/events'
import { paymentFold } from '@paylog/domain/payments/fold'
import { subjectNamed } from '@paylog/domain/personalData'
import { notificationFold } from '@paylog/domain/providerEvents'
import { createEventStore } from '@paylog/event-store/eventStore'
import { paymentStream, providerEventStream } from '@paylog/event-store/streamName'
import { createPool } from '@paylog/runtime/postgres/pool'
import { createLog } from '@paylog/runtime/telemetry/log'
import { startTestKeys } from '@paylog/testing/dataKeys'
import { startEventStore } from '@paylog/testing/eventStore'
import { waitFor } from '@paylog/testing/waitFor'
import { streamPrefixes } from '@paylog/webhooks/deliveries/subscriptions/exclusiveSubscription'
import { planSettings } from '@paylog/webhooks/deliveries/tables/deliveries'
import { eventSamples } from '@paylog/webhooks/testing/paymentFixture'
import t, { type Test } from 'tap'
import { createFollowUps } from '../reconciler/followUps.ts'
import { createReconcilePlanner } from '../reconciler/reconciler.ts'
import { agreeingClock } from '../testing/reconcilerHarness.ts'
import { createTrustedClock } from '../trustedClock.ts'
import { applyRetention, type RetentionDependencies, runRetention } from './retention.ts'

const day = 86_400_000
const metadata = { correlationId: 'c', causationId: 'c', actor: 'anonymous' }
const dayOf = (at: number) => new Date(at).toISOString().slice(0, 10)
const today = dayOf(Date.now())

const { connectionString, databaseUrl } = await startEventStore(t)
async function retentionHarness(t: Test) {
  const keys = await startTestKeys(t, databaseUrl)
  const lines: string[] = []
  const log = createLog({ app: 'test', level: 'info' }, { write: (line) => void lines.push(line) })
  const pool = createPool({ databaseUrl, applicationName: 'test', max: 4, settings: planSettings, log })
  const store = createEventStore({ connectionString, keys })
  t.teardown(async () => {
    await store.close()
    await pool.end()
  })
  // The days of earlier tests.
  await pool.query('truncate privacy.emails, privacy.keys, webhooks.open_secrets')
  const from = await store.head()
  const rules = { providers: new Map(), reconcileAfterMs: 3_600_000 }
  const followUps = createFollowUps(pool, { leaseMs: 1_000 })
  const planner = createReconcilePlanner({ followUps, rules, now: () => new Date(), dueNow: () => undefined })

  /** What the retention gets `daysLater`. */
  const deps = (daysLater: number, more: Partial<RetentionDependencies> = {}): RetentionDependencies => ({
    ...{ pool, store, keys, log, rules: { bodiesMs: 0, secrets: 'end' }, clock: agreeingClock },
    now: () => new Date(Date.now() + daysLater * day),
    ...more,
  })

  async function record(stream: string, events: readonly PaymentEvent[], to = store) {
    await to.handle({ stream, fold: paymentFold, decide: () => events, metadata })
  }

  return {
    ...{ pool, store, keys, lines, deps },
    /** Records a payment with a client secret. @param ends the event that ends it, and whether its intent is recorded after that */
    async pay(ends?: 'PaymentSucceeded' | 'PaymentCanceled', isLate = false, to = store): Promise<string> {
      const payment_id = randomUUID()
      const sample = <Type extends keyof typeof eventSamples>(type: Type) =>
        ({ type, data: { ...eventSamples[type], payment_id } }) as PaymentEvent
      const intent = sample('ProviderIntentCreated')
      const end = ends === undefined ? [] : [sample(ends)]
      await record(
        paymentStream(payment_id),
        [sample('PaymentInitiated'), ...(isLate ? [...end, intent] : [intent, ...end])],
        to,
      )
      return paymentStream(payment_id)
    },
    async end(stream: string): Promise<void> {
      const payment_id = stream.replace('payment-', '')
      await record(stream, [{ type: 'PaymentSucceeded', data: { ...eventSamples.PaymentSucceeded, payment_id } }])
    },
    async notify(): Promise<string> {
      const stream = providerEventStream('sandbox', randomUUID())
      await store.handle({
        ...{ stream, fold: notificationFold, metadata, subject: subjectNamed(userOwner('user-1')) },
        decide: () => [{ type: 'ProviderEventReceived', data: eventSamples.ProviderEventReceived }],
      })
      return stream
    },
    /** Lets the reconciler's subscription read the log. */
    async follow(): Promise<void> {
      const start = await planner.start()
      for await (const batch of store.readBatches({ prefixes: streamPrefixes, from: start, maxBatch: 100 }))
        await planner.handle(batch)
    },
    /** What has been sealed with the keys of the present day becomes what was sealed the day before. @returns the store of today */
    async endDay() {
      await pool.query(
        `update privacy.keys set bucket_day = bucket_day - 1, name_hash = sha256(id::text::bytea) where bucket is not null and destroyed_at is null`,
      )
      const next = createEventStore({ connectionString, keys: await startTestKeys(t, databaseUrl) })
      t.teardown(() => next.close())
      return next
    },
    /** The sealed field of a stream's event as it is read now. */
    async secretOf(stream: string) {
      const found = (await store.readStream(stream)).find(({ type }) => type === 'ProviderIntentCreated')
      return found?.type === 'ProviderIntentCreated' ? found.data.client_secret : undefined
    },
    async bodyOf(stream: string) {
      const [first] = await store.readStream(stream)
      return first?.type === 'ProviderEventReceived' ? first.data.body : undefined
    },
    async applied() {
      const found = []
      for await (const event of store.readLog({ prefixes: ['erasure-'], from }))
        if (event.type === 'RetentionApplied') found.push(event.data)
      return found
    },
  }
}

t.test('bodies of days beyond their retention are null, and nothing else is', async (t) => {
  const { deps, notify, bodyOf, applied, pay, secretOf } = await retentionHarness(t)
  const stream = await notify()
  const payment = await pay()
  const rules = { bodiesMs: 3 * day, secrets: 0 }
  await applyRetention(deps(400, { rules: { bodiesMs: 0, secrets: 0 } }))
  await applyRetention(deps(3, { rules }))
  t.equal(await bodyOf(stream), '{}', 'the day has not been over for three days')
  t.strictSame(await applied(), [])
  await applyRetention(deps(4, { rules }))
  t.equal(await bodyOf(stream), null)
  t.equal(await secretOf(payment), 'secret')
  t.match(await applied(), [{ kept: 'body', until_day: today, key_ids: [/^[0-9a-f-]{36}$/] }])
  await applyRetention(deps(5, { rules }))
  t.equal((await applied()).length, 1, 'a run that destroys nothing records nothing')
})

t.test('the secrets of a day are kept while one of its payments is open, those of other days are not', async (t) => {
  const { deps, pay, endDay, follow, end, secretOf, applied } = await retentionHarness(t)
  const finished = [await pay('PaymentSucceeded'), await pay('PaymentCanceled'), await pay('PaymentSucceeded', true)]
  const next = await endDay()
  const open = await pay(undefined, false, next)
  const neighbour = await pay('PaymentSucceeded', false, next)
  await follow()
  await applyRetention(deps(1))
  t.equal(await secretOf(finished[0] ?? ''), 'secret', 'the day has not been over for two days')
  await applyRetention(deps(3))
  for (const stream of finished) t.equal(await secretOf(stream), null)
  for (const stream of [open, neighbour]) t.equal(await secretOf(stream), 'secret')
  t.match(await applied(), [{ kept: 'secret', until_day: dayOf(Date.now() - day) }])
  await end(open)
  await follow()
  await applyRetention(deps(3))
  for (const stream of [open, neighbour]) t.equal(await secretOf(stream), null)
  t.match(await applied(), [{}, { kept: 'secret', until_day: today }])
})

t.test('by a local clock that differs from the event store nothing ends, until they agree', async (t) => {
  const { deps, notify, bodyOf, endDay, pool, store } = await retentionHarness(t)
  const stream = await notify()
  await endDay()
  const rules = { bodiesMs: day, secrets: 0 }
  const clockOf = (now: () => Date) =>
    createTrustedClock({ pool, store, providers: new Map(), now, log: createLog({ app: 'test', level: 'silent' }) })
  const ahead = deps(5, { rules })
  t.equal(await applyRetention({ ...ahead, clock: clockOf(ahead.now) }), false)
  t.equal(await bodyOf(stream), eventSamples.ProviderEventReceived.body)
  t.equal(await applyRetention({ ...ahead, clock: clockOf(() => new Date()) }), true)
  t.equal(await bodyOf(stream), null)
})

t.test('with a duration, client secrets end whether or not payments are open', async (t) => {
  const { deps, pay, secretOf } = await retentionHarness(t)
  const open = await pay()
  await applyRetention(deps(10, { rules: { bodiesMs: 0, secrets: 10 * day } }))
  t.equal(await secretOf(open), 'secret')
  await applyRetention(deps(11, { rules: { bodiesMs: 0, secrets: 10 * day } }))
  t.equal(await secretOf(open), null)
})

t.test('client secrets are kept while the list of open payments is behind the log', async (t) => {
  const { deps, pay, secretOf, follow, lines } = await retentionHarness(t)
  const finished = await pay('PaymentSucceeded')
  await applyRetention(deps(5))
  t.equal(await secretOf(finished), 'secret')
  t.match(lines.join(''), /behind the log/)
  await follow()
  await applyRetention(deps(5))
  t.equal(await secretOf(finished), null)
})

t.test('a retention that is interrupted after its event is completed by the next run, with one event', async (t) => {
  const { deps, keys, notify, bodyOf, applied } = await retentionHarness(t)
  const stream = await notify()
  const rules = { bodiesMs: day, secrets: 0 }
  const killed = { destroy: () => Promise.reject(new Error('killed')) }
  await t.rejects(applyRetention(deps(5, { rules, keys: killed })), /killed/)
  t.equal((await applied()).length, 1)
  t.equal(await bodyOf(stream), '{}')
  await applyRetention(deps(6, { rules, keys }))
  t.equal(await bodyOf(stream), null)
  t.equal((await applied()).length, 1)
})

t.test(
  'retentions of two processes run one after the other, again after a failure, and end with their signals',
  async (t) => {
    const { deps, notify, bodyOf, applied } = await retentionHarness(t)
    const stream = await notify()
    const stopping = new AbortController()
    let failures = 1
    let running = 0
    const now = () => {
      if (failures-- > 0) throw new Error('a failure')
      running += 1
      return new Date(Date.now() + 5 * day)
    }
    const log = createLog({ app: 'test', level: 'silent' })
    const own = { ...deps(0, { rules: { bodiesMs: day, secrets: 0 } }), now, log }
    const timing = { firstAfterMs: 1, everyMs: 50, retryAfterMs: 1, compareAfterMs: 1 }
    const runs = [1, 2].map(() => runRetention({ ...own, databaseUrl, signal: stopping.signal, timing }))
    await waitFor(async () => (await bodyOf(stream)) === null && running > 4, { what: 'the retention' })
    stopping.abort()
    await Promise.all(runs)
    t.equal((await applied()).length, 1)
  },
)
