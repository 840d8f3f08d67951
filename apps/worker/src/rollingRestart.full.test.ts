import { onQueue, queueKinds, redisTestUrl } from '@paylog/deliveries/testing/workerHarness'
import {
  assertAllDelivered,
  createWorkerProcessHarness,
  keepAppending,
  type RunningWorker,
  rawEndpointVariables,
} from '@paylog/deliveries/testing/workerProcessHarness'
import { startFakeEndpoint } from '@paylog/testing/fakeEndpoint'
import { testCycles } from '@paylog/testing/testEnvironment'
import { waitFor } from '@paylog/testing/waitFor'
import t from 'tap'

const queueOf = (kind: (typeof queueKinds)[number]) =>
  kind === 'redis' && redisTestUrl ? { REDIS_URL: redisTestUrl } : {}

const rounds = testCycles(1)

for (const kind of queueKinds) {
  t.test(`on ${kind}`, onQueue(kind), async (t) => {
    t.test('workers replaced one after the other under load lose nothing and send nothing twice', async (t) => {
      const endpoint = await startFakeEndpoint(t)
      const harness = await createWorkerProcessHarness(t, {
        ...rawEndpointVariables(1, endpoint.url),
        ...queueOf(kind),
      })
      let running: RunningWorker = await harness.start()
      const appending = keepAppending(t, harness)
      for (let round = 1; round <= rounds; round++) {
        const before = endpoint.received.length
        await waitFor(() => endpoint.received.length > before, { what: 'traffic' })
        const next = await harness.start()
        await running.stop()
        t.strictSame(await running.exited, { code: 0, signal: null })
        running = next
      }
      await appending.stop()
      await assertAllDelivered(t, harness, endpoint)
      t.equal(endpoint.received.length, harness.journal.length)
    })
  })
}
