// Workers as processes that are killed or stopped during an attempt. `npm run campaign` does it at random, with all parts.
import type { ServerResponse } from 'node:http'
import { startFakeEndpoint } from '@paylog/testing/fakeEndpoint'
import { waitFor } from '@paylog/testing/waitFor'
import {
  assertAllDelivered,
  createWorkerProcessHarness,
  rawEndpointVariables,
  type WorkerProcessHarness,
} from '@paylog/webhooks/testing/workerProcessHarness'
import t, { type Test } from 'tap'

/** An endpoint whose first requests wait for the test, and a log whose events it receives. */
async function withHeldRequests(t: Test, held: number) {
  const responses: ServerResponse[] = []
  const endpoint = await startFakeEndpoint(t, (response, index) => {
    if (index < held) responses.push(response)
    else response.end('ok')
  })
  const harness = await createWorkerProcessHarness(t, rawEndpointVariables(1, endpoint.url, { TIMEOUT: '3s' }))
  const requested = (count: number) =>
    waitFor(() => responses[count - 1], { what: `request ${count}`, timeoutMs: 30_000 })
  return { endpoint, harness, requested }
}

async function onlyDelivery({ pool }: WorkerProcessHarness) {
  const { rows } = await pool.query(
    'select status, attempts, jsonb_array_length(attempts_made) as made, last_http_status from webhooks.all_deliveries',
  )
  return rows
}
const delivered = [{ status: 'succeeded', attempts: 1, made: 1, last_http_status: 200 }]

// Parallel: each test has its own log and mostly waits.
t.jobs = 2

t.test('what a killed worker was sending is sent again with the same webhook id', { buffered: true }, async (t) => {
  const { endpoint, harness, requested } = await withHeldRequests(t, 1)
  const killed = await harness.start()
  await harness.append(1)
  await requested(1)
  await killed.kill('SIGKILL')
  await harness.start()
  await assertAllDelivered(t, harness, endpoint)
  t.equal(endpoint.received.length, 2)
  t.strictSame(await onlyDelivery(harness), delivered, 'unrecorded attempts are not counted')
})

t.test('a stopping worker finishes the request in progress and exits with 0', { buffered: true }, async (t) => {
  const { endpoint, harness, requested } = await withHeldRequests(t, 1)
  const worker = await harness.start({ LOG_LEVEL: 'info' })
  await harness.append(1)
  const response = await requested(1)
  const stopped = worker.stop()
  await waitFor(() => worker.output().includes('stopping'), { what: 'the stop to begin' })
  response.end('ok')
  await stopped
  t.strictSame(await worker.exited, { code: 0, signal: null })
  t.strictSame(await onlyDelivery(harness), delivered)
  await harness.append(5)
  await harness.start()
  await assertAllDelivered(t, harness, endpoint)
  t.equal(endpoint.received.length, 6, 'its successor sends nothing twice')
})

t.test('a stop while an endpoint hangs names the delivery, which is sent again', { buffered: true }, async (t) => {
  const { endpoint, harness, requested } = await withHeldRequests(t, 1)
  const worker = await harness.start({ STOP_TIMEOUT: '4s', WEBHOOK_1_TIMEOUT: '30s' })
  await harness.append(1)
  await requested(1)
  await worker.stop()
  t.strictSame(await worker.exited, { code: 1, signal: null })
  const lines = worker.output().split('\n')
  t.match(JSON.parse(lines.find((line) => line.includes('could not stop')) ?? '{}'), {
    part: 'deliveries',
    err: { message: `endpoint 1, delivery ${endpoint.received[0]?.id}` },
  })
  await harness.start()
  await assertAllDelivered(t, harness, endpoint)
  t.equal(endpoint.received.length, 2)
  t.strictSame(await onlyDelivery(harness), delivered, 'the abandoned attempt is not counted')
})
