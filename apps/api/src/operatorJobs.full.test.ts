// Jobs of operator processes that are killed or stopped: two processes on the same log and database.

import { createEventStore } from '@paylog/event-store/eventStore'
import { openPayment } from '@paylog/projections/testing/traffic'
import { createPool } from '@paylog/runtime/postgres/pool'
import { createLog } from '@paylog/runtime/telemetry/log'
import { startEventStore } from '@paylog/testing/eventStore'
import { startFakeIdentity } from '@paylog/testing/fakeIdentity'
import { startProcess, type TestProcess } from '@paylog/testing/processes'
import { waitFor } from '@paylog/testing/waitFor'
import t, { type Test } from 'tap'

const [{ connectionString, databaseUrl, keys }, { authUrl }] = await Promise.all([
  startEventStore(t),
  startFakeIdentity(t),
])
const log = createLog({ app: 'test', level: 'silent' })
const pool = createPool({ databaseUrl, applicationName: 'test', max: 3, log })
const store = createEventStore({ connectionString, keys })
t.teardown(() => Promise.all([pool.end(), store.close()]))

const env = { PORT: '0', DATABASE_URL: databaseUrl, EVENTSTORE_URL: connectionString, AUTH_URL: authUrl }
const startOperator = (t: Test) =>
  startProcess(t, { script: new URL('./operatorMain.ts', import.meta.url), env: { ...env, LOG_LEVEL: 'info' } })

type Data = { readonly id: string; readonly status: string; readonly result: Record<string, unknown> | null }

async function request(
  { detail }: TestProcess,
  method: string,
  path: string,
): Promise<{ readonly status: number; readonly data: Data }> {
  const headers = { 'x-session-id': 'demo-admin-session' }
  const response = await fetch(`${detail.url}${path}`, { method, headers })
  const { data } = (await response.json()) as { readonly data: Data }
  return { status: response.status, data }
}

/** Starts a rebuild that waits at its last step. @returns its job, and a function that lets it go on */
async function startHeldRebuild(t: Test, operator: TestProcess) {
  const client = await pool.connect()
  await client.query('begin; set local idle_in_transaction_session_timeout = 0')
  await client.query('lock table read_models.payments in access share mode')
  const { status, data } = await request(operator, 'POST', '/admin/projections/payments/rebuild')
  t.equal(status, 202)
  const isAtEnd = async () => {
    const { rows } = await pool.query('select progress from operations.jobs where id = $1', [data.id])
    return rows[0]?.progress?.step === 'switching'
  }
  await waitFor(isAtEnd, { what: 'the last step of the rebuild' })
  return {
    id: data.id,
    async release() {
      await client.query('rollback')
      client.release()
    },
  }
}

const ended = (operator: TestProcess, id: string) =>
  waitFor(
    async () => {
      const { data } = await request(operator, 'GET', `/admin/jobs/${id}`)
      return data.status !== 'running' && data
    },
    { what: 'the end of the job', timeoutMs: 60_000 },
  )

for (let count = 0; count < 20; count++) await openPayment(store)
const second = await startOperator(t)

t.test('a rebuild is seen, rejected and canceled through another process', async (t) => {
  const first = await startOperator(t)
  const { id, release } = await startHeldRebuild(t, first)
  t.match(await request(second, 'GET', `/admin/jobs/${id}`), { status: 200, data: { status: 'running' } })
  t.equal((await request(second, 'POST', '/admin/projections/payments/rebuild')).status, 409)
  t.match(await request(second, 'POST', `/admin/jobs/${id}/cancel`), { status: 200 })
  t.match(await ended(second, id), { status: 'canceled', result: null })
  await release()
})

t.test('a rebuild whose process is stopped is interrupted at once, and the process exits with 0', async (t) => {
  const first = await startOperator(t)
  const { id, release } = await startHeldRebuild(t, first)
  await first.stop()
  t.match(await first.exited, { code: 0 })
  t.match(await request(second, 'GET', `/admin/jobs/${id}`), { data: { status: 'interrupted', result: null } })
  await release()
})

t.test(
  'a rebuild whose process is killed is interrupted half a minute later, and the next one continues it',
  async (t) => {
    const first = await startOperator(t)
    const { id, release } = await startHeldRebuild(t, first)
    await first.kill('SIGKILL')
    await release()
    t.match(await request(second, 'GET', `/admin/jobs/${id}`), { data: { status: 'running' } })
    t.match(await ended(second, id), { status: 'interrupted', result: null })
    await openPayment(store)
    const next = await request(second, 'POST', '/admin/projections/payments/rebuild')
    t.equal(next.status, 202)
    t.match(await ended(second, next.data.id), {
      status: 'succeeded',
      result: { outcome: 'rebuilt', resumed_after: /^\d+$/, table: 'payments_v2', replaced: 'payments_v1', rows: 21 },
    })
    t.match(second.output(), /"requestedBy":"session:[^"]+".*"msg":"a job started"/)
  },
)
