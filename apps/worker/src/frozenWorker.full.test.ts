import type { ServerResponse } from 'node:http'
import { onQueue, queueKinds, redisTestUrl } from '@paylog/deliveries/testing/workerHarness'
import {
  assertAllDelivered,
  createWorkerProcessHarness,
  rawEndpointVariables,
} from '@paylog/deliveries/testing/workerProcessHarness'
import { startFakeEndpoint } from '@paylog/testing/fakeEndpoint'
import { waitFor } from '@paylog/testing/waitFor'
import t from 'tap'

const queueOf = (kind: (typeof queueKinds)[number]) =>
  kind === 'redis' && redisTestUrl ? { REDIS_URL: redisTestUrl } : {}

// Parallel: each test has its own servers and mostly waits.
t.jobs = queueKinds.length
for (const kind of queueKinds) {
  t.test(`on ${kind}`, { ...onQueue(kind), buffered: true }, async (t) => {
    t.test('a worker that was frozen during an attempt does not overwrite what another worker recorded', async (t) => {
      const pending: ServerResponse[] = []
      const endpoint = await startFakeEndpoint(t, (response, index) => {
        if (index === 0) pending.push(response)
        else response.end('ok')
      })
      const harness = await createWorkerProcessHarness(t, {
        ...rawEndpointVariables(1, endpoint.url, { TIMEOUT: '3s' }),
        ...queueOf(kind),
      })
      const frozen = await harness.start()
      await harness.append(1)
      await waitFor(() => pending.length === 1, { what: 'the attempt in progress' })
      process.kill(frozen.pid, 'SIGSTOP')
      await harness.start()
      await waitFor(async () => (await harness.count('succeeded')) === 1, {
        what: 'the other worker',
        timeoutMs: 30_000,
      })
      process.kill(frozen.pid, 'SIGCONT')
      await frozen.stop()
      t.strictSame(await frozen.exited, { code: 0, signal: null }, 'the frozen worker finished its attempt')
      const { rows } = await harness.pool.query(
        'select status, attempts, jsonb_array_length(attempts_made) as made, last_http_status from webhooks.all_deliveries',
      )
      t.strictSame(rows, [{ status: 'succeeded', attempts: 1, made: 1, last_http_status: 200 }])
      await harness.append(5)
      await assertAllDelivered(t, harness, endpoint)
      t.equal(endpoint.received.length, 7, 'only the attempt of both workers was sent twice')
    })
  })
}
