import type { ServerResponse } from 'node:http'
import {
  batchOf,
  createWorkerHarness,
  onQueue,
  queueKinds,
  type WorkerHarness,
} from '@paylog/deliveries/testing/workerHarness'
import { matchList } from '@paylog/testing/assertions'
import { startFakeEndpoint } from '@paylog/testing/fakeEndpoint'
import { freePort, startProcess } from '@paylog/testing/processes'
import { testCycles } from '@paylog/testing/testEnvironment'
import { waitFor } from '@paylog/testing/waitFor'
import t from 'tap'

const script = new URL('./main.ts', import.meta.url)

async function environment(
  harness: WorkerHarness,
  nodes: Readonly<Record<string, string>>,
): Promise<Record<string, string>> {
  return {
    ...nodes,
    DATABASE_URL: harness.databaseUrl,
    // Nothing listens there: the test records the batches, so the worker needs no log.
    EVENTSTORE_URL: `esdb://127.0.0.1:${await freePort()}?tls=false`,
    WEBHOOK_ALLOWED_PRIVATE_CIDRS: '127.0.0.0/8',
    ...(harness.store.kind === 'redis' ? { REDIS_URL: harness.store.url } : {}),
  }
}

const kills = testCycles(2)

for (const kind of queueKinds) {
  t.test(`on ${kind}`, onQueue(kind), async (t) => {
    const pending = Promise.withResolvers<ServerResponse>()
    const endpoint = await startFakeEndpoint(t, (response, index) => {
      if (index === kills) response.end('ok')
      else if (index > kills) pending.resolve(response)
    })
    const nodes = { WEBHOOK_1_ENABLED: 'true', WEBHOOK_1_URL: endpoint.url }
    const harness = await createWorkerHarness(t, kind, nodes)
    const env = await environment(harness, nodes)
    await harness.dispatcher.start()
    await harness.dispatcher.handle(batchOf(1))

    await t.test('a worker that is killed repeatedly delivers with the same webhook id', async (t) => {
      for (let kill = 0; kill < kills; kill++) {
        const worker = await startProcess(t, { script, env })
        await waitFor(() => endpoint.received.length > kill, { what: `attempt ${kill + 1}` })
        await worker.kill('SIGKILL')
      }
    })

    const before = performance.now()
    const worker = await startProcess(t, { script, env })
    await waitFor(() => endpoint.received.length > kills, { what: 'the last attempt' })
    t.comment(`sent again ${Math.round(performance.now() - before)} ms after the start`)
    const id = endpoint.received[0]?.id ?? ''
    t.strictSame(new Set(endpoint.received.map((webhook) => webhook.id)), new Set([id]))
    const delivered = async () => (await harness.row(id))?.status === 'succeeded'
    await waitFor(delivered, { what: 'the success to be recorded' })
    t.equal(endpoint.received.length, kills + 1, 'no further request')
    const attempts = await harness.attempts(id)
    matchList(t, attempts, [{ attempt: 1, http_status: 200 }], 'unrecorded attempts are not counted')

    await t.test('a stopping worker finishes the request in progress and exits with 0', async (t) => {
      await harness.dispatcher.handle(batchOf(1, 2n))
      const response = await pending.promise
      const stopped = worker.stop()
      await waitFor(() => worker.output().includes('stopping'), { what: 'the stop to begin' })
      response.end('ok')
      await stopped
      t.strictSame(await worker.exited, { code: 0, signal: null })
      t.match(await harness.row(endpoint.received.at(-1)?.id ?? ''), { status: 'succeeded', attempts: 1 })
    })
  })
}

t.test('a worker continues after all its database connections are cut', async (t) => {
  const endpoint = await startFakeEndpoint(t)
  const harness = await createWorkerHarness(t, 'postgres', { WEBHOOK_1_ENABLED: 'true', WEBHOOK_1_URL: endpoint.url })
  await harness.dispatcher.start()
  await harness.work()
  await harness.dispatcher.handle(batchOf(1))
  await waitFor(() => endpoint.received.length === 1, { what: 'the first delivery' })
  await harness.pool.query(
    'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
  )
  await harness.dispatcher.handle(batchOf(1, 2n))
  await waitFor(() => endpoint.received.length === 2, { what: 'the delivery after the cut', timeoutMs: 15_000 })
})
