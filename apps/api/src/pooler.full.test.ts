// The whole system through PgBouncer, the embedded event store included. Its defaults have fewer sessions than that opens.

import { startFakeEndpoint } from '@paylog/testing/fakeEndpoint'
import { findPgBouncer, startPgBouncer } from '@paylog/testing/pgBouncer'
import { startSystem } from '@paylog/testing/system'
import { administer } from '@paylog/testing/testDatabase'
import { waitFor } from '@paylog/testing/waitFor'
import t from 'tap'
import { asAda, client, endpointVariables } from './testing/roundTripHarness.ts'

const skip = (await findPgBouncer()) === undefined && 'there is no pgbouncer'
const serverUrl = process.env.TEST_DATABASE_URL ?? ''

t.test('a payment reaches the read model and the endpoint through a pooler in session mode', { skip }, async (t) => {
  const pooler = await startPgBouncer(t, serverUrl, { default_pool_size: 60 })
  // Everything of this file, the creation of the database included.
  process.env.TEST_DATABASE_URL = pooler.databaseUrl
  t.teardown(() => {
    process.env.TEST_DATABASE_URL = serverUrl
  })
  const endpoint = await startFakeEndpoint(t)
  const system = await startSystem(t, endpointVariables(endpoint.url, endpoint.url))
  const api = client(system)
  const { id, provider_intent_id } = await api.open()
  await api.settle(provider_intent_id)
  const shown = async () => (await api.call(`/payments/${id}`, { headers: asAda })).body.data as { status: string }
  await waitFor(async () => (await shown()).status === 'succeeded', { what: 'the settled payment in the read model' })
  await waitFor(() => endpoint.received.length === 5, { what: 'all webhooks' })
})

t.test('no process starts through a pooler in transaction mode', { skip }, async (t) => {
  const pooler = await startPgBouncer(t, serverUrl, { pool_mode: 'transaction' })
  await administer(pooler.databaseUrl, 'select 1')
  t.pass()
})
