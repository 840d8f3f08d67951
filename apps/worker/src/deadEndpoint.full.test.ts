import { concurrencyPerEndpoint } from '@paylog/deliveries/send/lanes'
import { batchOf, createWorkerHarness, notificationReceived, onQueue } from '@paylog/deliveries/testing/workerHarness'
import { startFakeEndpoint } from '@paylog/testing/fakeEndpoint'
import { positionAt } from '@paylog/testing/positionAt'
import { freePort, startProcess } from '@paylog/testing/processes'
import { startRedisServer } from '@paylog/testing/redisServer'
import { waitFor } from '@paylog/testing/waitFor'
import { Redis } from 'ioredis'
import t, { type Test } from 'tap'

const script = new URL('./main.ts', import.meta.url)
const batch = 1_000
/** BullMQ's own keys, and a wake-up for each tenth of a second in which something failed. */
const maxKeys = 2_000
const mebibyte = 1024 * 1024

/** Many deliveries for an endpoint that does not work, in a worker with a second, working endpoint. */
async function withBacklog(t: Test, deadUrl: string, backlog: number) {
  const redis = await startRedisServer(t)
  const working = await startFakeEndpoint(t)
  const nodes = {
    WEBHOOK_1_ENABLED: 'true',
    WEBHOOK_1_URL: deadUrl,
    WEBHOOK_1_RETRY_SCHEDULE: '1h',
    WEBHOOK_2_ENABLED: 'true',
    WEBHOOK_2_URL: working.url,
    WEBHOOK_2_EVENT_MODE: 'raw',
  }
  const harness = await createWorkerHarness(t, 'redis', nodes, redis.url)
  await harness.dispatcher.start()
  for (let first = 1; first < backlog; first += batch) await harness.dispatcher.handle(batchOf(batch, BigInt(first)))
  const env = {
    ...nodes,
    DATABASE_URL: harness.databaseUrl,
    // Nothing listens there: the test records the batches, so the worker needs no log.
    EVENTSTORE_URL: `esdb://127.0.0.1:${await freePort()}?tls=false`,
    WEBHOOK_ALLOWED_PRIVATE_CIDRS: '127.0.0.0/8',
    REDIS_URL: redis.url,
    HEALTH_PORT: '0',
    LOG_LEVEL: 'silent',
  }
  const worker = await startProcess(t, { script, env })
  const client = new Redis(redis.url)
  t.teardown(() => client.disconnect())
  return {
    harness,
    working,
    keys: () => client.dbsize(),
    /** Memory of Redis in bytes. */
    async memory(): Promise<number> {
      const text = await (await fetch(`${worker.detail.healthUrl}/metrics`)).text()
      return Number(/^process_resident_memory_bytes (\S+)/m.exec(text)?.[1])
    },
    /** Delivers to the working endpoint. @returns the time from the record to the request */
    async deliver(commit: number): Promise<number> {
      const before = working.received.length
      const recordedAt = performance.now()
      await harness.dispatcher.handle({
        events: [notificationReceived(BigInt(commit), '{}')],
        position: positionAt(BigInt(commit)),
      })
      await waitFor(() => working.received.length > before, { what: 'the delivery to the working endpoint' })
      return performance.now() - recordedAt
    },
  }
}

t.test(
  'an endpoint that hangs neither fills queue and memory nor delays another endpoint',
  onQueue('redis'),
  async (t) => {
    const backlog = 4_000
    const hanging = await startFakeEndpoint(t, () => undefined)
    const { working, keys, memory, deliver } = await withBacklog(t, hanging.url, backlog)
    await waitFor(() => hanging.received.length === concurrencyPerEndpoint, {
      what: 'the concurrency limit to be reached',
      timeoutMs: 30_000,
    })
    const before = await memory()
    const waits: number[] = []
    for (let n = 1; n <= 30; n++) waits.push(await deliver(backlog + n))
    t.comment(
      `${await keys()} keys, ${Math.round((await memory()) / mebibyte)} MiB, at most ${Math.round(Math.max(...waits))} ms`,
    )
    t.equal(working.received.length, 30)
    t.ok((await keys()) <= maxKeys, 'the number of keys is limited')
    t.ok((await memory()) < before + 100 * mebibyte)
    t.ok((waits.toSorted((a, b) => a - b)[15] ?? 0) < 1_000, 'the median delivery is not delayed')
  },
)

t.test(
  'an endpoint that refuses connections neither fills queue and memory nor delays another endpoint',
  onQueue('redis'),
  async (t) => {
    // With a job for each retry, the backlog would exceed the limit.
    const backlog = 8_000
    const { harness, keys, memory, deliver } = await withBacklog(t, `http://127.0.0.1:${await freePort()}/`, backlog)
    let most = 0
    await waitFor(
      async () => {
        most = Math.max(most, await keys())
        const { rows } = await harness.pool.query<{ tried: number }>(
          `select count(*)::int as tried from webhooks.deliveries where node = '1' and attempts > 0`,
        )
        return (rows[0]?.tried ?? 0) >= backlog / 2
      },
      { what: 'half of the first attempts', timeoutMs: 50_000 },
    )
    t.comment(`at most ${most} keys, ${Math.round((await memory()) / mebibyte)} MiB`)
    t.ok(most <= maxKeys, `${most} keys`)
    t.ok((await deliver(backlog + 1)) < 10_000)
  },
)
