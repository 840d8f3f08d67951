import { setTimeout as sleep } from 'node:timers/promises'
import {
  assertAllDelivered,
  createWorkerProcessHarness,
  rawEndpointVariables,
  waitForReadiness,
} from '@paylog/deliveries/testing/workerProcessHarness'
import { startFakeEndpoint } from '@paylog/testing/fakeEndpoint'
import { startRedisServer, withRedis } from '@paylog/testing/redisServer'
import { startTcpProxy } from '@paylog/testing/tcpProxy'
import { testCycles } from '@paylog/testing/testEnvironment'
import { waitFor } from '@paylog/testing/waitFor'
import { Redis } from 'ioredis'
import t, { type Test } from 'tap'

const rounds = testCycles(2)
/** Notifications between two faults. */
const enough = 30

t.test('a worker survives Redis faults', withRedis, async (t) => {
  const redis = await startRedisServer(t)
  const proxy = await startTcpProxy(t, redis.port)
  const steady = await startFakeEndpoint(t)
  const shaky = await startFakeEndpoint(t, (response, index) => {
    response.statusCode = index % 5 === 0 ? 503 : 200
    response.end()
  })
  const harness = await createWorkerProcessHarness(t, {
    ...rawEndpointVariables(1, steady.url),
    ...rawEndpointVariables(2, shaky.url, { RETRY_SCHEDULE: Array.from({ length: 10 }, () => '300ms').join() }),
    REDIS_URL: `redis://127.0.0.1:${proxy.port}`,
  })
  const worker = await harness.start()
  const gone = () => Promise.all([redis.kill(), proxy.refuse()])
  const back = () => Promise.all([redis.restartEmpty(), proxy.accept()])
  const allArrive = async (t: Test, timeoutMs = 40_000) => {
    for (const endpoint of [steady, shaky]) await assertAllDelivered(t, harness, endpoint, timeoutMs)
    t.equal(await harness.count('failed'), 0)
  }

  /** Causes one or more faults during traffic. */
  async function losesNothing(t: Test, fault: () => Promise<unknown>, times = 1): Promise<void> {
    const before = steady.received.length
    const appending = harness.append(enough * (times + 1))
    for (let time = 1; time <= times; time++) {
      await waitFor(() => steady.received.length >= before + enough * time, { what: 'traffic', timeoutMs: 30_000 })
      await fault()
    }
    await appending
    await harness.append(10)
    await allArrive(t)
  }

  await t.test('emptying Redis repeatedly during traffic loses no delivery', async (t) => {
    const client = new Redis(redis.url)
    await losesNothing(t, () => client.flushall(), rounds)
    client.disconnect()
  })

  await t.test('killing Redis and starting it empty loses no delivery', (t) =>
    losesNothing(t, async () => {
      await gone()
      await back()
    }),
  )

  await t.test('freezing Redis for ten seconds loses no delivery', (t) =>
    losesNothing(t, async () => {
      redis.pause()
      await sleep(10_000)
      redis.resume()
    }),
  )

  await t.test('a worker is not ready while Redis is down', async (t) => {
    await waitForReadiness(worker, 200)
    await gone()
    await harness.append(3)
    await allArrive(t, 10_000)
    t.match((await waitForReadiness(worker, 503)).checks, {
      queue: { ok: false },
      postgres: { ok: true },
      log: { ok: true },
    })
    await back()
    await waitForReadiness(worker, 200)
    await allArrive(t)
  })

  await t.test('a worker is not ready while its Redis connections hang, and recovers', async (t) => {
    proxy.freezeConnections()
    await harness.append(5)
    t.match((await waitForReadiness(worker, 503)).checks, {
      queue: { ok: false },
      postgres: { ok: true },
      log: { ok: true },
    })
    const noticedAt = performance.now()
    await allArrive(t, 60_000)
    await waitForReadiness(worker, 200)
    t.comment(`recovered ${Math.round((performance.now() - noticedAt) / 1_000)} s after the cut was noticed`)
  })

  await worker.stop()
  t.strictSame(await worker.exited, { code: 0, signal: null })
})

t.test('a worker starts without Redis, sends and retries, and uses Redis once it is there', withRedis, async (t) => {
  const redis = await startRedisServer(t)
  const proxy = await startTcpProxy(t, redis.port)
  await proxy.refuse()
  const endpoint = await startFakeEndpoint(t, (response, index) => {
    response.statusCode = index === 0 ? 503 : 200
    response.end()
  })
  const harness = await createWorkerProcessHarness(t, {
    ...rawEndpointVariables(1, endpoint.url),
    REDIS_URL: `redis://127.0.0.1:${proxy.port}`,
  })
  const worker = await harness.start()
  await harness.append(5)
  await assertAllDelivered(t, harness, endpoint, 10_000)
  t.equal(endpoint.received.length, 6, 'one retry')
  await waitForReadiness(worker, 503)
  await proxy.accept()
  await waitForReadiness(worker, 200)
  await worker.stop()
  t.strictSame(await worker.exited, { code: 0, signal: null })
})
