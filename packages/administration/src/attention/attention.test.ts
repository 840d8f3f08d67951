// What needs attention, on what the processes have stored, over the route and in the metrics.
import { createActivityRecorder } from '@paylog/commands/provider-activity/activity'
import { recordDispute } from '@paylog/domain/payments/disputes'
import { AttentionCode } from '@paylog/domain/payments/events'
import { recordStatus } from '@paylog/domain/payments/statusReports'
import { createPool } from '@paylog/runtime/postgres/pool'
import { createLog } from '@paylog/runtime/telemetry/log'
import { createMetrics } from '@paylog/runtime/telemetry/metrics'
import { createMigratedDatabase } from '@paylog/testing/migratedDatabase'
import { testPool } from '@paylog/testing/testPool'
import t, { type Test } from 'tap'
import { attentionHarness, endpoints, providers } from '../testing/attentionHarness.ts'
import { operatorHarness } from '../testing/operatorHarness.ts'
import { createAttention, measureAttention } from './attention.ts'
import { attentionCodes, attentionLimits } from './item.ts'

const log = createLog({ app: 'test', level: 'silent' })
const hour = 3_600
const day = 24 * hour
const timing = { maxAgeMs: 0, timeoutMs: 2_000 }

/** A database, and what needs attention in it. */
async function start(t: Test) {
  const pool = testPool(t, (await createMigratedDatabase(t)).databaseUrl)
  const stored = attentionHarness(pool)
  const attention = createAttention({ db: pool, endpoints, providers, now: () => new Date(), log, timing })
  const items = async () => (await attention.read()).items
  return {
    ...stored,
    pool,
    attention,
    items,
    codes: async () => (await items()).map(({ code }) => code),
    /** Records what a provider did some time ago. */
    async provider(ago: number, act: (recorder: ReturnType<typeof createActivityRecorder>) => void) {
      const recorder = createActivityRecorder({ db: pool, now: () => new Date(Date.now() - ago * 1_000), log })
      act(recorder)
      await recorder.close()
      // As if it had been recorded at that time.
      await pool.query("update providers.activity set watched_since = now() - $1 * interval '1 second'", [ago])
    },
  }
}

const source = { provider_event_id: null, provider_intent_id: null, provider_payment_id: 'ch_1' }
const disputeOf = (evidence: number, provider_status = 'needs_response') => ({
  ...{ ...source, occurred_at: new Date().toISOString(), provider_time: new Date().toISOString() },
  ...{ provider_dispute_id: 'dp_1', status: 'open' as const, provider_status, reason: 'fraudulent' },
  ...{ evidence_due_by: new Date(Date.now() + evidence * 1_000).toISOString(), amount_cents: 1000, currency: 'EUR' },
})
const statusOf = (status: 'succeeded' | 'canceled', amount_cents = 1000) => ({
  ...{ ...source, occurred_at: new Date().toISOString(), provider_time: new Date().toISOString() },
  ...{ status, amount_cents, currency: 'EUR', capturable_cents: 0 },
})

t.test('nothing needs attention in a new system', async (t) => {
  const { items, endpoint, reportLag } = await start(t)
  t.same(await items(), [])
  await endpoint('1')
  await reportLag({ payments: 0 })
  t.same(await items(), [])
})

t.test('an endpoint is an item when it is paused, when deliveries failed, fail for long, or are late', async (t) => {
  const { items, endpoint, deliver } = await start(t)
  await endpoint('1')
  await deliver({ node: '1', failedAgo: day })
  await deliver({ node: '1', failedAgo: 2 * day })
  await deliver({ node: '1', dueFor: 2 * attentionLimits.lateSeconds })
  await endpoint('2', { pausedAgo: hour })
  await deliver({ node: '2', dueFor: hour })
  await endpoint('3')
  await deliver({ node: '3', failingFor: hour, dueFor: -60 })
  t.match(await items(), [
    {
      code: 'deliveries_late',
      message: '1 delivery to endpoint 1 (shop.example.com) should have been sent, the oldest more than 5 minutes ago',
      link: '/webhooks/endpoints/1',
      count: 1,
    },
    {
      code: 'endpoint_failing',
      message: '2 deliveries to endpoint 1 (shop.example.com) failed within 7 days, without being sent again',
      link: '/webhooks/endpoints/1?status=failed',
      count: 2,
    },
    {
      code: 'endpoint_failing',
      message: '1 delivery to endpoint 3 failed for more than 15 minutes, and will be tried again',
      link: '/webhooks/endpoints/3?status=pending',
      count: 1,
    },
    {
      code: 'endpoint_paused',
      message: 'Bookkeeping (erp.example.com:8443) is paused, with 1 delivery waiting',
      link: '/webhooks/endpoints/2',
      count: 1,
    },
  ])
})

t.test('an endpoint is no item for tests, old failures, short delays, or when it is not configured', async (t) => {
  const { items, endpoint, deliver } = await start(t)
  await endpoint('1')
  await deliver({ node: '1', failedAgo: 60, isTest: true })
  await deliver({ node: '1', dueFor: hour, isTest: true })
  await deliver({ node: '1', failingFor: hour, dueFor: -60, isTest: true })
  await deliver({ node: '1', failedAgo: (attentionLimits.failedDays + 0.1) * day })
  await deliver({ node: '1', dueFor: attentionLimits.lateSeconds - 5 })
  await deliver({ node: '1', failingFor: attentionLimits.retriedMinutes * 60 - 5, dueFor: -60 })
  await endpoint('2', { isConfigured: false, pausedAgo: hour })
  await deliver({ node: '2', failedAgo: 60 })
  await deliver({ node: '2', dueFor: hour })
  t.same(await items(), [])
})

t.test('a read model is an item when it has stopped, is behind, or is not reported on', async (t) => {
  const { pool, items, reportLag } = await start(t)
  const limit = attentionLimits.readModelSeconds
  await reportLag({ payments: limit, refunds: limit + 1, disputes: 0, products: 0 })
  await pool.query("update read_models.checkpoints set stopped_because = 'poison' where name = 'disputes@1'")
  await pool.query(
    `update read_models.lag set reported_at = now() - interval '${limit + 2} s' where projection = 'products'`,
  )
  const link = '/read-models'
  t.match(await items(), [
    { code: 'read_model_stopped', message: 'The list of disputes has stopped at an event that it cannot read', link },
    { code: 'read_model_stopped', message: 'The list of refunds is more than 60 seconds behind the log', count: 12 },
    { code: 'read_model_stopped', message: /^The list of products has not been reported on/, link, count: 1 },
  ])
})

t.test('payments are one item for each code, and disputes one whose evidence is due', async (t) => {
  const { items, pay, decide, project } = await start(t)
  for (const _ of Array(2)) decide(pay(60), (state) => recordStatus(statusOf('succeeded', 999), state))
  const canceled = pay(60)
  decide(canceled, (state) => recordStatus(statusOf('canceled'), state))
  decide(canceled, (state) => recordStatus(statusOf('succeeded'), state))
  for (const dispute of [disputeOf(6 * day), disputeOf(8 * day), disputeOf(day, 'warning_under_review')]) {
    const paid = pay(60)
    decide(paid, (state) => recordStatus(statusOf('succeeded'), state))
    decide(paid, (state) => recordDispute(dispute, state))
  }
  await project()
  t.match(await items(), [
    {
      code: 'evidence_due',
      message: /^Evidence for 1 dispute is due within 7 days, the first by \d{4}-\d\d-\d\d \d\d:\d\d UTC$/,
      link: '/disputes?status=open',
      count: 1,
    },
    {
      code: 'money_after_cancellation',
      message: '1 payment: money arrived after the payment was canceled',
      link: '/payments?attention=true',
      count: 1,
    },
    { code: 'amount_mismatch', message: /^2 payments: the provider received another amount/, count: 2 },
  ])
})

t.test('a provider is an item when it refuses our credentials, until it accepts some', async (t) => {
  const { items, codes, provider } = await start(t)
  await provider(hour, (recorder) =>
    recorder.called({ provider: 'stripe', credentials: { refusal: 'Expired API Key' } }),
  )
  const [item] = await items()
  t.match(item, {
    code: 'provider_refused',
    message: 'Stripe refuses our credentials: Expired API Key',
    link: '/providers',
    count: 1,
  })
  t.ok(Math.abs(Date.parse(item?.occurred_at ?? '') - (Date.now() - hour * 1_000)) < 5_000)
  await provider(0, (recorder) => recorder.called({ provider: 'paypal', credentials: { refusal: 'not enabled here' } }))
  await provider(0, (recorder) => recorder.called({ provider: 'stripe', credentials: 'accepted' }))
  t.same(await codes(), [])
})

t.test('a provider is an item when several signatures in a row are wrong, and none is right', async (t) => {
  const { items, codes, provider } = await start(t)
  const refuse = (count: number, ago = 60) =>
    provider(ago, (recorder) => {
      for (const _ of Array(count)) recorder.refusedSignature('stripe')
    })
  await refuse(attentionLimits.refusedSignatures)
  t.same(await codes(), [])
  await refuse(1)
  t.match(await items(), [
    {
      code: 'provider_refused',
      message: 'Stripe: the last 4 notifications were refused, because their signature is wrong or missing',
      count: 4,
    },
  ])
  await provider(0, (recorder) => recorder.called({ provider: 'stripe', credentials: { refusal: 'Expired API Key' } }))
  t.match(await items(), [
    { message: /^Stripe refuses our credentials: Expired API Key; the last 4 notifications were refused/, count: 4 },
  ])
  await provider(0, (recorder) => recorder.called({ provider: 'stripe', credentials: 'accepted' }))
  await provider(0, (recorder) => recorder.notified('stripe', 'payment_intent.succeeded'))
  t.same(await codes(), [])
  await refuse(attentionLimits.refusedSignatures, 0)
  t.same(await codes(), [])
})

t.test('a provider is an item when payments of a day brought no notification', async (t) => {
  const { codes, items, provider, pay, decide, project } = await start(t)
  const heard = (ago: number) => provider(ago, (recorder) => recorder.notified('stripe', 'charge.succeeded'))
  await heard(25 * hour)
  const unpaid = pay(hour)
  await project()
  t.same(await codes(), [], 'nobody has paid')
  decide(unpaid, (state) => recordStatus(statusOf('succeeded'), state))
  pay(26 * hour)
  await project()
  t.match(await items(), [
    {
      code: 'provider_silent',
      message: 'Stripe has sent no notification for 24 hours, in which payments were made with it',
      link: '/providers',
      count: 1,
    },
  ])
  await heard(23 * hour)
  t.same(await codes(), [])
})

t.test('many unpaid payments without a notification are an item too', async (t) => {
  const { codes, provider, pay, project } = await start(t)
  await provider(25 * hour, (recorder) => recorder.called({ provider: 'stripe', credentials: 'accepted' }))
  for (const _ of Array(9)) pay(hour)
  await project()
  t.same(await codes(), [])
  pay(hour)
  await project()
  t.same(await codes(), ['provider_silent'])
})

t.test('a log that does not verify comes first', async (t) => {
  const { pool, items, provider } = await start(t)
  await provider(60, (recorder) => recorder.called({ provider: 'stripe', credentials: { refusal: 'no' } }))
  await pool.query("update audit.tree set stopped_because = 'the tree was changed'")
  t.match(await items(), [
    {
      code: 'log_not_verified',
      message: 'The log does not verify, and no checkpoint is signed: the tree was changed',
      link: '/audit',
      count: 1,
    },
    { code: 'provider_refused' },
  ])
})

/** The values of the metric by code. */
async function metricOf({ attention }: Pick<Awaited<ReturnType<typeof start>>, 'attention'>) {
  const metrics = createMetrics()
  measureAttention(metrics, attention, log)
  const metric = await metrics.registry.getSingleMetric('paylog_attention')?.get()
  return Object.fromEntries((metric?.values ?? []).map(({ labels, value }) => [String(labels.code), value]))
}

t.test(
  'what cannot be read is an item, the rest is still there, and the metrics do not claim to know it',
  async (t) => {
    const started = await start(t)
    const { pool, attention, items, endpoint } = started
    await endpoint('1', { pausedAgo: hour })
    t.same((await metricOf(started)).endpoint_paused, 1)
    await pool.query('alter table webhooks.nodes rename to elsewhere')
    await pool.query("update audit.tree set stopped_because = 'the tree was changed'")
    t.match(await items(), [
      { code: 'log_not_verified' },
      {
        code: 'attention_unknown',
        message: 'Whether anything is wrong with the webhook endpoints is not known: that could not be read',
        link: '/webhooks',
      },
    ])
    const { unknown } = await attention.read()
    t.same([...unknown], ['endpoint_paused', 'endpoint_failing', 'deliveries_late'])
    t.match(await metricOf(started), { attention_unknown: 1, log_not_verified: 1, endpoint_paused: undefined })
  },
)

t.test('a table that is locked makes its source unknown after the timeout', async (t) => {
  const { pool } = await start(t)
  const quick = { maxAgeMs: 0, timeoutMs: 1_500 }
  const attention = createAttention({ db: pool, endpoints, providers, now: () => new Date(), log, timing: quick })
  const client = await pool.connect()
  try {
    await client.query('begin; lock table webhooks.nodes in access exclusive mode')
    t.match((await attention.read()).items, [{ code: 'attention_unknown', link: '/webhooks' }])
  } finally {
    await client.query('rollback')
    client.release()
  }
  t.same((await attention.read()).items, [])
})

t.test('a reading is used again for a while', async (t) => {
  const { pool, endpoint } = await start(t)
  const attention = createAttention({
    ...{ db: pool, endpoints, providers, now: () => new Date(), log },
    timing: { maxAgeMs: 60_000, timeoutMs: 2_000 },
  })
  t.same((await attention.read()).items, [])
  await endpoint('1', { pausedAgo: hour })
  t.same((await attention.read()).items, [])
})

t.test('the metric has every code, as many as the route has items', async (t) => {
  const started = await start(t)
  const { items, endpoint, deliver, pay, decide, project } = started
  await endpoint('1', { pausedAgo: hour })
  await endpoint('2', { pausedAgo: hour })
  await endpoint('3')
  await deliver({ node: '3', failedAgo: 60 })
  decide(pay(60), (state) => recordStatus(statusOf('succeeded', 999), state))
  await project()
  const found = Map.groupBy(await items(), ({ code }) => code)
  const metric = await metricOf(started)
  t.same(Object.keys(metric).sort(), [...attentionCodes].sort())
  for (const code of attentionCodes) t.equal(metric[code], found.get(code)?.length ?? 0, code)
  t.match(metric, { endpoint_paused: 2, endpoint_failing: 1, amount_mismatch: 1, log_not_verified: 0 })
})

t.test('every code of payments has its place among the codes', async (t) => {
  for (const code of AttentionCode.enum) t.ok(attentionCodes.includes(code), code)
  t.equal(new Set(attentionCodes).size, attentionCodes.length)
})

t.test('GET /admin/attention has the items, and is 503 without Postgres', async (t) => {
  const { get, pool } = await operatorHarness(t, { endpoints, providers })
  t.same((await get('/admin/attention')).json(), { success: true, data: [] })
  await attentionHarness(pool).endpoint('1', { pausedAgo: hour })
  const { data } = (await get('/admin/attention')).json()
  t.match(data, [{ code: 'endpoint_paused', link: '/webhooks/endpoints/1', count: 0, occurred_at: /Z$/ }])
  t.same(Object.keys(data[0]), ['code', 'message', 'occurred_at', 'link', 'count'])

  const databaseUrl = 'postgres://127.0.0.1:1/none'
  const nowhere = createPool({ databaseUrl, applicationName: 'test', max: 1, log })
  t.teardown(() => nowhere.end())
  const attention = createAttention({ db: nowhere, endpoints, providers, now: () => new Date(), log })
  const without = await operatorHarness(t, { attention })
  const response = await without.get('/admin/attention')
  t.match([response.statusCode, response.json()], [503, { success: false, error: { code: 'service_unavailable' } }])
})
