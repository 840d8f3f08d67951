// The header that marks every attempt of a webhook test.
import { startFakeEndpoint } from '@paylog/testing/fakeEndpoint'
import { waitFor } from '@paylog/testing/waitFor'
import t from 'tap'
import { batchOf } from '../../testing/paymentFixture.ts'
import { webhookTestBatch } from '../../testing/webhookTestFixture.ts'
import { createWorkerHarness } from '../../testing/workerHarness.ts'
import { redeliver } from '../operations/redelivery.ts'

t.test(
  'every attempt of a webhook test has the header webhook-test: true in every format, and real deliveries do not [10.4-test-header]',
  async (t) => {
    const endpoint = await startFakeEndpoint(t, (response, index) =>
      response.writeHead(index < 4 ? 500 : 200).end('ok'),
    )
    const harness = await createWorkerHarness(t, 'postgres', {
      EXTERNAL_WEBHOOK_RETRY_DELAY: '10ms',
      WEBHOOK_1_ENABLED: 'true',
      WEBHOOK_1_URL: endpoint.url,
      WEBHOOK_1_EVENT_MODE: 'both',
      WEBHOOK_2_ENABLED: 'true',
      WEBHOOK_2_URL: endpoint.url,
      WEBHOOK_2_FORMAT: 'slack',
      EXTERNAL_WEBHOOK_URLS: endpoint.url,
    })
    await harness.dispatcher.start()
    await harness.work()
    const arrived = (count: number) => waitFor(() => endpoint.received.length === count, { what: `${count} requests` })
    await harness.dispatcher.handle(webhookTestBatch(1))
    await arrived(8)
    const { rows } = await harness.pool.query<{ id: string }>('select id from webhooks.all_deliveries')
    t.equal(rows.length, 4, 'raw, canonical, chat and legacy')
    const unfinished = () => harness.pool.query('select from webhooks.deliveries')
    await waitFor(async () => (await unfinished()).rowCount === 0, { what: 'all attempts to be recorded' })
    await redeliver(
      harness.pool,
      rows.map(({ id }) => id),
      new Date(),
    )
    await arrived(12)
    for (const { headers, body } of endpoint.received) t.equal(headers['webhook-test'], 'true', body)
    await harness.dispatcher.handle(batchOf(1, 2n))
    await arrived(14)
    for (const { headers } of endpoint.received.slice(12)) t.notOk('webhook-test' in headers)
  },
)
