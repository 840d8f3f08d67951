import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  assertAllDelivered,
  createWorkerProcessHarness,
  rawEndpointVariables,
  waitForReadiness,
} from '@paylog/deliveries/testing/workerProcessHarness'
import { startEmbeddedPostgres } from '@paylog/embedded-postgres/embeddedPostgres'
import { createLog } from '@paylog/runtime/telemetry/log'
import { startEventStore } from '@paylog/testing/eventStore'
import { startFakeEndpoint } from '@paylog/testing/fakeEndpoint'
import { freePort } from '@paylog/testing/processes'
import { startTcpProxy } from '@paylog/testing/tcpProxy'
import { waitFor } from '@paylog/testing/waitFor'
import t from 'tap'

const silent = createLog({ app: 'test', level: 'silent' })

/** The URL of a server, through a proxy. */
function through(url: string, { port }: { readonly port: number }): string {
  return url.replace(/:\d+(?=[/?])/, `:${port}`)
}

// Parallel: each test has its own log and worker and mostly waits.
t.jobs = 2

t.test('a worker survives Postgres faults', { buffered: true }, async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'paylog-worker-test-'))
  t.teardown(() => rmSync(directory, { recursive: true, force: true }))
  const server = { directory: join(directory, 'postgres'), port: await freePort(), log: silent }
  let postgres = await startEmbeddedPostgres(server)
  t.teardown(() => postgres.stop())
  const { databaseUrl } = postgres
  const proxy = await startTcpProxy(t, server.port)
  const endpoint = await startFakeEndpoint(t)
  const harness = await createWorkerProcessHarness(t, rawEndpointVariables(1, endpoint.url), { databaseUrl })
  const worker = await harness.start({ DATABASE_URL: through(databaseUrl, proxy) })

  await t.test('a worker is not ready while Postgres restarts under load, and loses nothing', async (t) => {
    const appending = harness.append(60)
    await waitFor(() => endpoint.received.length >= 20, { what: 'traffic', timeoutMs: 30_000 })
    await postgres.stop()
    t.match((await waitForReadiness(worker, 503)).checks.postgres, { ok: false })
    postgres = await startEmbeddedPostgres(server)
    await appending
    await waitForReadiness(worker, 200)
    await assertAllDelivered(t, harness, endpoint)
  })

  await t.test('a worker is not ready while its Postgres connections hang, and recovers', async (t) => {
    proxy.freezeConnections()
    await harness.append(5)
    await waitForReadiness(worker, 503)
    await assertAllDelivered(t, harness, endpoint, 80_000)
    await waitForReadiness(worker, 200)
  })

  await worker.stop()
  t.strictSame(await worker.exited, { code: 0, signal: null })
})

t.test('a worker survives event store faults', { buffered: true }, async (t) => {
  const log = await startEventStore(t)
  const proxy = await startTcpProxy(t, Number(new URL(log.connectionString).port))
  const endpoint = await startFakeEndpoint(t)
  const harness = await createWorkerProcessHarness(t, rawEndpointVariables(1, endpoint.url), { log })
  const worker = await harness.start({ EVENTSTORE_URL: through(log.connectionString, proxy) })
  await waitForReadiness(worker, 200)

  await t.test('a worker is not ready while its event store connections hang', async (t) => {
    proxy.freezeConnections()
    await harness.append(5)
    await waitForReadiness(worker, 503)
    await assertAllDelivered(t, harness, endpoint, 60_000)
    await waitForReadiness(worker, 200)
  })

  await t.test('a worker is not ready while the event store is down', async (t) => {
    await proxy.refuse()
    t.match((await waitForReadiness(worker, 503)).checks, { log: { ok: false }, postgres: { ok: true } })
    await proxy.accept()
    await waitForReadiness(worker, 200)
    await harness.append(1)
    await assertAllDelivered(t, harness, endpoint)
  })
})
