import { randomUUID } from 'node:crypto'
import { jsonEvent } from '@eventstore/db-client'
import { paymentStream } from '@paylog/event-store/streamName'
import { lagOf, projectionFigures } from '@paylog/projections/lag'
import { projections } from '@paylog/projections/registry'
import { projectorHarness } from '@paylog/projections/testing/projectorHarness'
import { waitFor } from '@paylog/testing/waitFor'
import t from 'tap'
import { readiness } from './health.ts'

type Checks = Readonly<Record<string, Readonly<Record<string, unknown>>>>

const harness = await projectorHarness(t)
const { pool, pay, projected } = harness
// Paid before the start, so that the projector has to catch up.
await pay()
const { detail } = await harness.startProjector({ HEALTH_PORT: '0' })
const page = String(detail.healthUrl)

async function readChecks(): Promise<Checks & { readonly status: number }> {
  const response = await fetch(`${page}/health/ready`)
  const { checks } = (await response.json()) as { checks: Checks }
  return { ...checks, status: response.status } as Checks & { readonly status: number }
}

const readMetrics = async () => await (await fetch(`${page}/metrics`)).text()

t.test('the health page shows the position and lag of each projection', async (t) => {
  await projected(1)
  // The lag is measured periodically, possibly before the payment was applied.
  const checks = await waitFor(
    async () => {
      const found = await readChecks()
      return found.status === 200 && found['projection payments']?.lag_events === 0 && found
    },
    { what: 'the page to be ready without lag' },
  )
  const running = { ok: true, role: 'running', connected: true, version: 1, lag_events: 0, lag_seconds: 0 }
  for (const { name } of projections) t.match(checks[`projection ${name}`], running, name)
  t.match(checks['projection payments'], { position: /^\d+$/ })
  const metrics = await readMetrics()
  t.match(metrics, 'projection_lag_events{projection="payments"} 0')
  t.match(metrics, 'projection_stopped{projection="products"} 0')
  t.match(metrics, 'projection_events_total{projection="payments"} 2')
})

t.test('the lag of a blocked projection is counted and recorded in the database', async (t) => {
  await pool.query(
    'alter table read_models.payments_v1 add constraint rejects_all check (created_at is null) not valid',
  )
  for (let count = 0; count < 3; count++) await pay()
  const lagAt = async (name: string) => (await projectionFigures(pool)).find((row) => row.projection === name)?.lag
  const lag = await waitFor(
    async () => {
      const measured = await lagAt('payments')
      return (measured?.events ?? 0) === 6 && measured
    },
    { what: 'the lag to be recorded' },
  )
  t.match(lag, { events: 6, isMore: false })
  t.ok(lag.seconds >= 0 && lag.seconds < 60)
  await waitFor(async () => (await lagAt('products'))?.events === 0, { what: 'the lag of the others to be recorded' })
  t.match(await readMetrics(), 'projection_lag_events{projection="payments"} 6')
  await pool.query('alter table read_models.payments_v1 drop constraint rejects_all')
  await waitFor(async () => (await lagAt('payments'))?.events === 0, {
    what: 'the remaining events to be applied',
  })
})

t.test('a stopped projection is not ready and reports its growing lag', async (t) => {
  const stream = paymentStream(randomUUID())
  await harness.store.client.appendToStream(stream, jsonEvent({ type: 'PaymentTeleported', data: {} }))
  const stopped = await waitFor(
    async () => {
      const checks = await readChecks()
      return checks['projection payments']?.lag_events === 1 && checks['projection products']?.ok === true && checks
    },
    { what: 'the projection to stop' },
  )
  t.equal(stopped.status, 503)
  t.match(stopped['projection payments'], { ok: false, role: 'stopped', lag_events: 1 })
  t.match(stopped['projection products'], { ok: true, role: 'running' })
  t.match(await readMetrics(), 'projection_stopped{projection="payments"} 1')
})

t.test('a lag that could not be counted is null', async (t) => {
  const now = Date.parse('2026-11-01T12:00:10Z')
  const since = new Date('2026-11-01T12:00:00Z')
  const first = { created: since }
  t.same(lagOf({ events: 7, isMore: true, first }, now), { events: 7, isMore: true, seconds: 10 })
  t.same(lagOf({ events: 1, isMore: false, first }, since.getTime() - 5), { events: 1, isMore: false, seconds: 0 })
  t.same(lagOf({ events: 0, isMore: false, first: undefined }, now), { events: 0, isMore: false, seconds: 0 })
  t.equal(lagOf({ events: 0, isMore: true, first: undefined }, now), undefined)
})

const figures = {
  projection: 'payments',
  version: 3,
  position: '7',
  read_at: new Date(),
  stopped_because: null,
  reportedSecondsAgo: 1,
  lag: { events: 9, isMore: false, seconds: 60 },
}

t.test(
  'a standby is ready; a projection without connection, without known lag or a minute behind is not',
  async (t) => {
    const running = { role: 'running', rebuild: 'none', isConnected: true } as const
    t.same(readiness({ ...running, role: 'standing by', isConnected: false }, undefined), { role: 'standing by' })
    t.notOk('ok' in readiness(running, figures))
    t.match(readiness({ ...running, isConnected: false }, figures), { ok: false, connected: false })
    t.match(readiness(running, { ...figures, lag: { ...figures.lag, seconds: 61 } }), { ok: false, lag_seconds: 61 })
    t.match(readiness(running, { ...figures, lag: undefined }), { ok: false, lag_events: null })
    for (const role of ['starting', 'frozen', 'outdated', 'stopped'] as const)
      t.match(readiness({ ...running, role }, figures), { ok: false, role })
  },
)

t.test('a projection that is rebuilt is as ready as a running one, and not ready when the rebuild fails', async (t) => {
  for (const role of ['running', 'standing by'] as const) {
    const state = { role, isConnected: true }
    const rebuilding = readiness({ ...state, rebuild: 'running' }, figures)
    t.match(rebuilding, { role, rebuild: 'running' })
    t.notOk('ok' in rebuilding)
    t.match(readiness({ ...state, rebuild: 'failing' }, figures), { ok: false, role, rebuild: 'failing' })
  }
})
