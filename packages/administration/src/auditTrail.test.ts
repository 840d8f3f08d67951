// What administrators do through the operator API is in the audit trail, and is refused when it cannot be recorded.
import { randomUUID } from 'node:crypto'
import { recordedActions } from '@paylog/commands/testing/recordedActions'
import { createEventStore } from '@paylog/event-store/eventStore'
import { recordLags } from '@paylog/projections/lag'
import { startEventStore } from '@paylog/testing/eventStore'
import { decodeEndpoints } from '@paylog/webhooks/endpoints/endpoints'
import t from 'tap'
import type { ProjectionState } from './projections/projectionState.ts'
import { operatorHarness } from './testing/operatorHarness.ts'

const log = await startEventStore(t)
// Short, because one test waits for the end of the retries.
const timing = { appendTimeoutMs: 3_000, appendRetryTimeoutMs: 3_000 }
const store = createEventStore({ connectionString: log.connectionString, keys: log.keys, timing })
const { endpoints } = decodeEndpoints({ WEBHOOK_1_ENABLED: 'true', WEBHOOK_1_URL: 'https://shop.example.com/' })
const { pool, get, post, ended } = await operatorHarness(t, { store, endpoints }, log)

const actor = 'session:00000000-0000-4000-8000-000000000003'
const admin = { 'x-session-id': 'demo-admin-session' }
const reason = { 'x-reason': 'outage%20of%20the%20shop' }
const endpoint = { kind: 'webhook_endpoint', id: '1' }

/** A delivery of endpoint 1 that failed. */
async function failedDelivery(): Promise<string> {
  const id = randomUUID()
  await pool.query(
    `insert into webhooks.finished_deliveries (id, node, event, mode, provider, body, source_stream, source_revision,
       source_event_id, correlation_id, causation_id, attempts, attempts_made, last_error,
       last_attempt_at, ended_at, created_at, is_test)
     values ($1, '1', 'payment.succeeded', 'canonical', 'sandbox', '{}', 'payment-1', 1, $1, 'c', 'c', 0, '[]', 'timeout',
       now(), now(), now(), false)`,
    [id],
  )
  return id
}

const pause = () =>
  pool.query(`insert into webhooks.nodes (name, is_configured, disabled_at) values ('1', true, now())
              on conflict (name) do update set disabled_at = now()`)
const isPaused = async () =>
  (await pool.query("select from webhooks.nodes where name = '1' and disabled_at is not null")).rowCount === 1
const pending = async () => (await pool.query('select from webhooks.deliveries')).rowCount
await pause()

/** What an action adds to the audit trail. */
async function actionsOf(act: () => Promise<unknown>) {
  const before = (await recordedActions(store)).length
  await act()
  return (await recordedActions(store)).slice(before).map(({ data }) => data)
}

const doing = (path: string, body?: object) => async () => {
  const { statusCode, body: text } = await post(`/admin/${path}`, body, { ...admin, ...reason })
  if (statusCode > 202) throw new Error(text)
}

t.test('what an administrator does with webhooks is recorded, with actor, reason and target', async (t) => {
  const id = await failedDelivery()
  const auditedAction = { actor, reason: 'outage of the shop', target: endpoint }
  t.match(await actionsOf(doing(`webhook-deliveries/${id.toUpperCase()}/redeliver`)), [
    { ...auditedAction, action: 'redeliver_webhook', target: { kind: 'webhook_delivery', id } },
  ])
  await failedDelivery()
  t.match(await actionsOf(doing('webhook-endpoints/1/redeliver', { since: '2026-01-31T12:00:00Z' })), [
    {
      ...auditedAction,
      action: 'redeliver_failed_webhooks',
      details: { since: '2026-01-31T12:00:00Z', deliveries: 1 },
    },
  ])
  t.match(await actionsOf(doing('webhook-endpoints/1/enable')), [
    { ...auditedAction, action: 'enable_webhook_endpoint' },
  ])
  t.match(await actionsOf(doing('webhook-endpoints/1/backfill', { from: '1' })), [
    { ...auditedAction, action: 'backfill_webhooks', details: { from: '1' } },
  ])
  t.match(await actionsOf(doing('webhook-endpoints/1/test', { event: 'payment.failed' })), [
    { ...auditedAction, action: 'test_webhook_endpoint', details: { event: 'payment.failed' } },
  ])
  t.same(await actionsOf(doing('webhook-endpoints/1/redeliver', { dry_run: true })), [], 'a dry run only counts')
})

t.test('a verification, a rebuild and the cancellation of a job are recorded', async (t) => {
  for (const kind of ['verify', 'rebuild'])
    t.match(await actionsOf(doing(`projections/disputes/${kind}`)), [
      { action: `${kind}_projection`, target: { kind: 'projection', id: 'disputes' }, actor, reason: /outage/ },
    ])
  const [job] = (await get('/admin/jobs')).json().data
  const started = (await recordedActions(store)).at(-1)?.data.action_id
  t.equal(job.id, started, 'the job has the id of its entry')
  t.match(await actionsOf(doing(`jobs/${job.id}/cancel`)), [
    {
      action: 'cancel_job',
      target: { kind: 'job', id: job.id },
      actor,
      details: { kind: 'rebuild', subject: 'disputes' },
    },
  ])
  await ended(job.id)
})

t.test('an export is recorded once, and no page of it can be read without a record', async (t) => {
  const page = (query: string) => get(`/admin/events?category=auditTrail&limit=1${query}`, { ...admin, ...reason })
  let next: unknown
  const auditedAction = {
    action: 'export_log',
    target: null,
    actor,
    reason: /outage/,
    details: { category: 'auditTrail' },
  }
  t.match(
    await actionsOf(async () => {
      const first = await page('')
      const again = `&after=${first.headers['x-next-position']}&head=${first.headers['x-log-head']}`
      const second = await page(again)
      t.equal(second.statusCode, 200)
      t.equal((await page(again)).body, second.body, 'a repeated page')
      next = second.headers['x-next-position']
    }),
    [auditedAction],
  )
  t.match(await actionsOf(() => page('&after=1')), [{ ...auditedAction, details: { after: '1' } }])
  const other = () => get(`/admin/events?limit=1&after=${next}`, admin)
  t.match(await actionsOf(other), [{ action: 'export_log', reason: null }], 'a place in another export')
  t.match(await actionsOf(() => get('/admin/events?stream=product-1', admin)), [
    { action: 'export_log', target: { kind: 'stream', id: 'product-1' } },
  ])
})

t.test('an e-mail in a filter of an export is not recorded', async (t) => {
  const [auditedAction] = await actionsOf(() => get('/admin/events?stream=ann@example.com&type=ann@example.com', admin))
  t.match(auditedAction, { action: 'export_log', target: { kind: 'stream' } })
  t.notMatch(JSON.stringify(auditedAction), 'ann')
})

t.test('what does not exist is not recorded', async (t) => {
  const recorded = await actionsOf(async () => {
    for (const path of [
      ...['projections/none/verify', "projections/disputes'--/rebuild", `jobs/${randomUUID()}/cancel`],
      ...['enable', 'redeliver', 'backfill'].map((verb) => `webhook-endpoints/9/${verb}`),
      `webhook-deliveries/${randomUUID()}/redeliver`,
    ])
      t.equal((await post(`/admin/${path}`)).statusCode, 404, path)
  })
  t.same(recorded, [])
})

t.test('what cannot be recorded is refused with 503, and not done', async (t) => {
  await pause()
  const id = await failedDelivery()
  const waiting = await pending()
  const jobs = (await get('/admin/jobs')).body
  await log.kill()
  const refused = await Promise.all(
    [
      ...['webhook-endpoints/1/enable', 'webhook-endpoints/1/redeliver', `webhook-deliveries/${id}/redeliver`],
      ...['projections/disputes/verify', 'projections/disputes/rebuild', 'webhook-endpoints/1/backfill'],
    ].map((path) => post(`/admin/${path}`)),
  )
  for (const response of refused)
    t.match(response.json(), { error: { code: 'event_store_unavailable', message: /audit trail.*nothing was done/ } })
  t.ok(await isPaused())
  t.equal(await pending(), waiting)
  t.equal((await get('/admin/jobs')).body, jobs)
})

t.test('without the log the projections have the lag that a projector reported', async (t) => {
  await recordLags(pool, new Map([['payments', { events: 3, isMore: false, seconds: 1.5 }]]))
  const { data }: { data: ProjectionState[] } = (await get('/admin/projections')).json()
  const lagOf = (name: string) => data.find(({ projection }) => projection === name)?.lag
  t.same(lagOf('payments'), { events: 3, is_more: false, seconds: 1.5 })
  t.equal(lagOf('addresses'), null)
})
