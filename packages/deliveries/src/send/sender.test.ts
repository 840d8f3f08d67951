import type { ServerResponse } from 'node:http'
import { startFakeEndpoint } from '@paylog/testing/fakeEndpoint'
import { waitFor } from '@paylog/testing/waitFor'
import t from 'tap'
import { batchOf, createWorkerHarness } from '../testing/workerHarness.ts'

t.test('one process never sends a delivery twice concurrently', async (t) => {
  const responses: ServerResponse[] = []
  const endpoint = await startFakeEndpoint(t, (response) => responses.push(response))
  const harness = await createWorkerHarness(t, 'postgres', { WEBHOOK_1_ENABLED: 'true', WEBHOOK_1_URL: endpoint.url })
  await harness.dispatcher.start()
  await harness.dispatcher.handle(batchOf(1))
  const [node] = harness.endpoints
  const [attempt] = await harness.deliveries.overdue('1', new Date(Date.now() + 60_000), 1)
  if (node === undefined || attempt === undefined) throw new Error('no delivery is due')
  const { signal } = new AbortController()

  const first = harness.send(node, attempt, signal)
  const response = await waitFor(() => responses[0], { what: 'the request' })
  t.equal(await harness.send(node, attempt, signal), undefined, 'the second job ends at once')
  t.equal(endpoint.received.length, 1)
  response.writeHead(500).end()
  const next = await first
  t.match(next, { deliveryId: attempt.deliveryId, attempt: 2 })
  if (next === undefined) throw new Error('No retry was scheduled')

  const second = harness.send(node, next, signal)
  const nextResponse = await waitFor(() => responses[1], { what: 'the next request' })
  nextResponse.end('ok')
  t.equal(await second, undefined)
  t.match(await harness.row(attempt.deliveryId), { status: 'succeeded', attempts: 2 })
})
