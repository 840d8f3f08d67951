import { projections } from '@paylog/projections/registry'
import { openPayment, startTraffic } from '@paylog/projections/testing/traffic'
import { lockKey } from '@paylog/runtime/postgres/lock'
import { waitFor } from '@paylog/testing/waitFor'
import pg from 'pg'
import t from 'tap'
import type { Job } from '../jobs/job.ts'
import { operatorHarness } from '../testing/operatorHarness.ts'
import type { ProjectionState } from './projectionState.ts'

const harness = await operatorHarness(t)
const { get, post, ended, pool, store } = harness
await harness.start('projector')
const first = await openPayment(store)

const payments = async (): Promise<ProjectionState> =>
  (await get('/admin/projections')).json().data.find(({ projection }: ProjectionState) => projection === 'payments')
const isRead = (id: string) => async () =>
  (await pool.query('select from read_models.payments where id = $1', [id])).rowCount === 1
await waitFor(isRead(first), { what: 'the payment in the read model' })

/** Starts a job and waits for its end. */
async function runJob(url: string): Promise<Job> {
  const started = await post(url)
  t.equal(started.statusCode, 202, started.body)
  return await ended(started.json().data.id)
}

t.test('the list has every projection with its lag and its tables', async (t) => {
  const { data } = (await get('/admin/projections')).json()
  t.same(
    data.map(({ projection }: ProjectionState) => projection),
    projections.map(({ name }) => name),
  )
  const state = await payments()
  t.match(state, {
    is_running: true,
    is_rebuilding: false,
    is_verifying: false,
    lag: { is_more: false },
    stopped_because: null,
    tables: [{ table: 'payments_v1', version: 1, state: 'live', position: /^\d+$/, since: /Z$/ }],
  })
  t.ok((state.tables[0]?.bytes ?? 0) > 0)
})

t.test('verify finds a row that was changed by hand, with the found and the expected value', async (t) => {
  await pool.query("update read_models.payments_v1 set currency = 'XXX' where id = $1", [first])
  t.match(await runJob('/admin/projections/payments/verify'), {
    kind: 'verify',
    subject: 'payments',
    status: 'succeeded',
    requested_by: 'session:00000000-0000-4000-8000-000000000003',
    error: null,
    result: {
      projection: 'payments',
      outcome: 'different',
      differing: 1,
      different: 1,
      truncated: false,
      differences: [{ id: first, kind: 'different', columns: [{ column: 'currency', found: 'XXX', expected: 'EUR' }] }],
    },
  })
})

t.test('rebuild corrects the row beside live traffic, and no payment is missing afterwards', async (t) => {
  const traffic = startTraffic(t, store)
  const job = await runJob('/admin/projections/payments/rebuild')
  t.match(job, {
    kind: 'rebuild',
    status: 'succeeded',
    progress: { step: 'switching', events: Number, position: /^\d+$/, head: /^\d+$/ },
    result: {
      projection: 'payments',
      outcome: 'rebuilt',
      table: 'payments_v2',
      replaced: 'payments_v1',
      comparison: { equal: false, differing: 1, differences: [{ id: first }] },
    },
  })
  t.ok((await traffic.stop()) > 0)
  const last = await openPayment(store)
  await waitFor(isRead(last), { what: 'the last payment in the read model' })
  t.match(await runJob('/admin/projections/payments/verify'), { result: { outcome: 'equal', differing: 0 } })
  t.same(
    (await payments()).tables.map(({ table, state }) => `${table} ${state}`),
    ['payments_v1 retired', 'payments_v2 live'],
  )
})

t.test('a rebuild is canceled, the live table stays, and the same rebuild is 409 until then', async (t) => {
  const blocker = await pool.connect()
  await blocker.query('begin; lock table read_models.payments in access share mode')
  const started = (await post('/admin/projections/payments/rebuild')).json().data
  await waitFor(async () => (await payments()).is_rebuilding, { what: 'the rebuild' })
  t.match((await post('/admin/projections/payments/rebuild')).json(), { error: { code: 'job_running' } })
  const progress = () => harness.jobs.get(started.id).then((job) => job?.progress?.step === 'switching')
  await waitFor(progress, { what: 'the last step' })
  t.match((await post(`/admin/jobs/${started.id}/cancel`)).json(), { success: true, data: { id: started.id } })
  t.match(await ended(started.id), { status: 'canceled', result: null, error: null })
  await blocker.query('rollback')
  blocker.release()
  t.same(
    (await payments()).tables.map(({ table, state }) => `${table} ${state}`),
    ['payments_v1 retired', 'payments_v2 live', 'payments_v3 building'],
  )
})

for (const [kind, doing] of [
  ['rebuild', 'rebuilding'],
  ['verify', 'verifying'],
] as const)
  t.test(`${kind} is 409 while a process without a job is ${doing} the projection`, async (t) => {
    const other = new pg.Client({ connectionString: harness.databaseUrl })
    await other.connect()
    await other.query('select pg_advisory_lock($1)', [lockKey(`${kind} payments`)])
    const response = await post(`/admin/projections/payments/${kind}`)
    t.equal(response.statusCode, 409)
    t.match(response.json(), {
      error: { code: 'job_running', message: `Another process is ${doing} payments; try again when it has ended` },
    })
    await other.end()
  })

t.test('jobs are listed newest first, up to the limit', async (t) => {
  const listed = async (query: string): Promise<Job[]> => (await get(`/admin/jobs${query}`)).json().data
  const all = await listed('')
  t.same(
    all.map(({ kind, status }) => `${kind} ${status}`),
    ['rebuild canceled', 'verify succeeded', 'rebuild succeeded', 'verify succeeded'],
  )
  t.same(await listed('?limit=1'), all.slice(0, 1))
  t.same((await get(`/admin/jobs/${all[1]?.id}`)).json().data, all[1])
  t.equal((await get('/admin/jobs?limit=101')).statusCode, 400)
})
