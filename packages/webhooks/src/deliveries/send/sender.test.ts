import type { ServerResponse } from 'node:http'
import { startFakeEndpoint } from '@paylog/testing/fakeEndpoint'
import { waitFor } from '@paylog/testing/waitFor'
import t from 'tap'
import { batchOf } from '../../testing/paymentFixture.ts'
import { createWorkerHarness } from '../../testing/workerHarness.ts'

t.test('a process whose lease has ended does not send a delivery twice concurrently', async (t) => {
  const responses: ServerResponse[] = []
  const endpoint = await startFakeEndpoint(t, (response) => responses.push(response))
  const env = { WEBHOOK_1_ENABLED: 'true', WEBHOOK_1_URL: endpoint.url }
  const harness = await createWorkerHarness(t, 'postgres', env)
  await harness.dispatcher.start()
  const { deliverer } = await harness.work()
  await harness.dispatcher.handle(batchOf(1))
  const response = await waitFor(() => responses[0], { what: 'the request' })
  await harness.pool.query('update webhooks.deliveries set claimed_until = now()')
  const isClaimedAgain = async () =>
    (await harness.pool.query('select from webhooks.deliveries where claimed_until > now()')).rowCount === 1
  deliverer.wake('1')
  await waitFor(isClaimedAgain, { what: 'another claim by the same process' })
  response.end('ok')
  const id = endpoint.received[0]?.id ?? ''
  await waitFor(async () => (await harness.row(id))?.status === 'succeeded', { what: 'the record' })
  t.equal(endpoint.received.length, 1)
})
