// The whole system, the embedded event store included, through PgBouncer and on the oldest Postgres. PgBouncer's defaults have
// fewer sessions than that opens.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startEmbeddedPostgres } from '@paylog/embedded-postgres/embeddedPostgres'
import { createLog } from '@paylog/runtime/telemetry/log'
import { startEventStore } from '@paylog/testing/eventStore'
import { startFakeEndpoint } from '@paylog/testing/fakeEndpoint'
import { findProgram } from '@paylog/testing/findProgram'
import { findPgBouncer, startPgBouncer } from '@paylog/testing/pgBouncer'
import { freePort, startProcess } from '@paylog/testing/processes'
import { startSystem } from '@paylog/testing/system'
import { administer } from '@paylog/testing/testDatabase'
import { waitFor } from '@paylog/testing/waitFor'
import t, { type Test } from 'tap'
import { asAda, client, endpointVariables } from './testing/roundTripHarness.ts'

const skip = (await findPgBouncer()) === undefined && 'there is no pgbouncer'
const serverUrl = process.env.TEST_DATABASE_URL ?? ''
/** As docs/deployment.md says. */
const sessions = 40

/** All of this file goes through the pooler as a role that is no superuser, the creation of the database included. */
async function throughPooler(t: Test, settings: Readonly<Record<string, string | number>>) {
  await administer(serverUrl, `create role pooled login createdb password 'pooled'`)
  t.teardown(() => administer(serverUrl, 'drop role pooled'))
  const url = new URL(serverUrl)
  url.username = 'pooled'
  url.password = 'pooled'
  const { databaseUrl } = await startPgBouncer(t, url.href, settings)
  useServer(t, databaseUrl)
}

/** The databases of this test are created there, by the migrations. */
function useServer(t: Test, databaseUrl: string) {
  const { TEST_DATABASE_TEMPLATE, ...environment } = process.env
  process.env.TEST_DATABASE_URL = databaseUrl
  delete process.env.TEST_DATABASE_TEMPLATE
  t.teardown(() => {
    Object.assign(process.env, environment, TEST_DATABASE_TEMPLATE && { TEST_DATABASE_TEMPLATE })
  })
}

t.test('a payment reaches the read model and the endpoint through a pooler in session mode', { skip }, async (t) => {
  await throughPooler(t, { default_pool_size: sessions })
  await payAndRead(t)
})

const postgres15 = '/usr/lib/postgresql/15/bin'
const no15 = (await findProgram(['initdb'], postgres15)) === undefined && 'NOT TESTED: there is no postgresql-15'

t.test('a payment reaches the read model and the endpoint on Postgres 15', { skip: no15 }, async (t) => {
  const log = createLog({ app: 'test', level: 'silent' })
  const directory = await mkdtemp(join(tmpdir(), 'paylog-postgres-15-'))
  t.teardown(() => rm(directory, { recursive: true }))
  const port = await freePort()
  const postgres = await startEmbeddedPostgres({ directory, port, isDurable: false, programs: postgres15, log })
  t.teardown(() => postgres.stop())
  useServer(t, postgres.superuserUrl)
  await payAndRead(t)
})

async function payAndRead(t: Test) {
  const endpoint = await startFakeEndpoint(t)
  const system = await startSystem(t, endpointVariables(endpoint.url, endpoint.url))
  const api = client(system)
  const { id, provider_intent_id } = await api.open()
  await api.settle(provider_intent_id)
  const shown = async () => (await api.call(`/payments/${id}`, { headers: asAda })).body.data as { status: string }
  await waitFor(async () => (await shown()).status === 'succeeded', { what: 'the settled payment in the read model' })
  await waitFor(() => endpoint.received.length === 5, { what: 'all webhooks' })
}

t.test('no process starts through a pooler in transaction mode, and each says what to use', { skip }, async (t) => {
  const { connectionString, databaseUrl } = await startEventStore(t)
  const pooler = await startPgBouncer(t, databaseUrl, { pool_mode: 'transaction' })
  const env = {
    ...{ DATABASE_URL: pooler.databaseUrl, EVENTSTORE_URL: connectionString, AUTH_URL: 'http://127.0.0.1:9' },
    PORT: String(await freePort()),
  }
  for (const app of ['api', 'command-api', 'query-api', 'projector', 'worker', 'embedded-event-store']) {
    const script = new URL(`../../${app}/src/main.ts`, import.meta.url)
    await t.rejects(startProcess(t, { script, env }), /ended \(1\).*pooler in transaction/s, app)
  }
})
