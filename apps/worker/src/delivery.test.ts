import { startFakeEndpoint } from '@paylog/testing/fakeEndpoint'
import { waitFor } from '@paylog/testing/waitFor'
import { batchOf } from '@paylog/webhooks/testing/paymentFixture'
import { createWorkerHarness, onQueue, queueKinds, type WorkerHarness } from '@paylog/webhooks/testing/workerHarness'
import { Redis } from 'ioredis'
import t from 'tap'

const endpointVariables = (url: string, more: Readonly<Record<string, string>> = {}) => ({
  WEBHOOK_1_ENABLED: 'true',
  WEBHOOK_1_URL: url,
  WEBHOOK_1_RETRY_SCHEDULE: '100ms,200ms',
  ...more,
})

const finished = (harness: WorkerHarness, id: string) =>
  waitFor(
    async () => {
      const row = await harness.row(id)
      return row !== undefined && row.status !== 'pending' && row
    },
    { what: `the end of delivery ${id}`, timeoutMs: 15_000 },
  )

async function forgetQueue({ store, pool }: WorkerHarness): Promise<void> {
  if (store.kind === 'postgres') {
    await pool.query('truncate queue.job cascade')
    return
  }
  const redis = new Redis(store.url)
  const keys = await redis.keys(`${store.prefix}:*`)
  // A wake-up that is on its way may not be there yet.
  if (keys.length > 0) await redis.del(keys)
  await redis.quit()
}

// Parallel: each test has its own tables and mostly waits.
t.jobs = queueKinds.length
for (const kind of queueKinds) {
  t.test(`on ${kind}`, { ...onQueue(kind), buffered: true }, async (t) => {
    t.test('deliveries that another process records arrive', async (t) => {
      const endpoint = await startFakeEndpoint(t)
      const harness = await createWorkerHarness(t, kind, endpointVariables(endpoint.url))
      await harness.dispatcher.start()
      await harness.work()
      for (let round = 0; round < 3; round++) {
        await harness.dispatcher.handle(batchOf(1, BigInt(round * 10 + 1)))
        // Another process records them: the queue wakes the worker, or it polls.
        await waitFor(() => endpoint.received.length > round, { what: 'the webhook', timeoutMs: 60_000 })
      }
      const [webhook] = endpoint.received
      t.match(JSON.parse(webhook?.body ?? ''), { event: 'payment.succeeded', data: { amount: 2200, currency: 'USD' } })
      t.match(await finished(harness, webhook?.id ?? ''), { status: 'succeeded', attempts: 1, next_attempt_at: null })
      t.match(await harness.attempts(webhook?.id ?? ''), [
        { attempt: 1, http_status: 200, error: null, response_body: 'ok' },
      ])
    })

    t.test('deliveries and retries are sent once and in time although the queue is emptied', async (t) => {
      const endpoint = await startFakeEndpoint(t, (response, index) => {
        response.writeHead(index === 0 ? 503 : 200).end()
      })
      const retrying = endpointVariables(endpoint.url, { WEBHOOK_1_RETRY_SCHEDULE: '1s' })
      const harness = await createWorkerHarness(t, kind, retrying)
      await harness.dispatcher.start()
      await harness.dispatcher.handle(batchOf(5))
      await forgetQueue(harness)
      await harness.work()
      await waitFor(() => endpoint.received.length === 5, { what: 'the lost deliveries', timeoutMs: 15_000 })
      const id = endpoint.received[0]?.id ?? ''
      await waitFor(async () => (await harness.row(id))?.attempts === 1, { what: 'the failed attempt' })
      await forgetQueue(harness)
      t.match(await finished(harness, id), { status: 'succeeded', attempts: 2 })
      t.strictSame(new Set(endpoint.received.map((webhook) => webhook.id)).size, 5)
      t.equal(endpoint.received.length, 6)
    })
  })
}
