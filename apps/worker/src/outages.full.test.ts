import { startEventStore } from '@paylog/testing/eventStore'
import { startFakeEndpoint } from '@paylog/testing/fakeEndpoint'
import { startRedisServer, withRedis } from '@paylog/testing/redisServer'
import { startTcpProxy } from '@paylog/testing/tcpProxy'
import {
  assertAllDelivered,
  createWorkerProcessHarness,
  rawEndpointVariables,
  waitForReadiness,
} from '@paylog/webhooks/testing/workerProcessHarness'
import t from 'tap'

/** The URL of a server, through a proxy. */
function through(url: string, { port }: { readonly port: number }): string {
  return url.replace(/:\d+(?=[/?])/, `:${port}`)
}

t.test('a worker is not ready without Postgres, event store or Redis, and loses nothing', withRedis, async (t) => {
  const log = await startEventStore(t)
  const redis = await startRedisServer(t)
  const proxies = {
    postgres: await startTcpProxy(t, Number(new URL(log.databaseUrl).port)),
    log: await startTcpProxy(t, Number(new URL(log.connectionString).port)),
    queue: await startTcpProxy(t, redis.port),
  }
  // The first attempt fails, so that retries are needed as well.
  const endpoint = await startFakeEndpoint(t, (response, index) => response.writeHead(index === 0 ? 503 : 200).end())
  const harness = await createWorkerProcessHarness(t, rawEndpointVariables(1, endpoint.url), log)
  await proxies.queue.refuse()
  const worker = await harness.start({
    DATABASE_URL: through(log.databaseUrl, proxies.postgres),
    EVENTSTORE_URL: through(log.connectionString, proxies.log),
    REDIS_URL: `redis://127.0.0.1:${proxies.queue.port}`,
  })

  await t.test('a worker that starts without Redis sends and retries, and is ready once Redis is there', async (t) => {
    t.match((await waitForReadiness(worker, 503)).checks, { queue: { ok: false }, postgres: { ok: true } })
    await harness.append(5)
    await assertAllDelivered(t, harness, endpoint)
    t.equal(endpoint.received.length, 6, 'one retry')
    await proxies.queue.accept()
    await waitForReadiness(worker, 200)
  })

  for (const [check, proxy] of Object.entries(proxies))
    await t.test(`a worker is not ready while ${check} refuses connections, and loses nothing`, async (t) => {
      await proxy.refuse()
      t.match((await waitForReadiness(worker, 503)).checks, { [check]: { ok: false } })
      await harness.append(5)
      await proxy.accept()
      await waitForReadiness(worker, 200)
      await assertAllDelivered(t, harness, endpoint)
    })

  await worker.stop()
  t.strictSame(await worker.exited, { code: 0, signal: null }, worker.output().slice(-2_000))
})
