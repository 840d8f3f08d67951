import { createEndpoint } from '@paylog/testing/endpoint'
import { waitFor } from '@paylog/testing/waitFor'
import { Redis } from 'ioredis'
import t, { type Test } from 'tap'
import { createFaultRig, everythingArrives, rawNode } from './testing/faultRig.ts'
import { type RedisServer, startRedisServer } from './testing/redisServer.ts'
import { onQueue } from './testing/rig.ts'

const total = 200

/** Two endpoints, one of which fails every fifth request, and a fault in the middle of the traffic. */
async function survives(t: Test, fault: (redis: RedisServer, round: number) => Promise<void>, rounds: number) {
  const redis = await startRedisServer(t)
  const steady = await createEndpoint(t)
  const shaky = await createEndpoint(t, (response, index) => {
    response.statusCode = index % 5 === 0 ? 503 : 200
    response.end()
  })
  const rig = await createFaultRig(t, {
    ...rawNode(1, steady.url),
    ...rawNode(2, shaky.url, { RETRY_SCHEDULE: Array.from({ length: 10 }, () => '300ms').join() }),
    REDIS_URL: redis.url,
  })
  const worker = await rig.start()
  const appending = rig.append(total)
  for (let round = 0; round < rounds; round++) {
    const enough = ((round + 1) * total) / (rounds + 2)
    await waitFor(() => steady.received.length >= enough, { what: 'traffic', timeoutMs: 30_000 })
    await fault(redis, round)
  }
  await appending
  await rig.append(20)
  await Promise.all([steady, shaky].map((endpoint) => everythingArrives(t, rig, endpoint, 40_000)))
  t.equal(await rig.count('failed'), 0)
  await worker.stop()
  t.strictSame(await worker.exited, { code: 0, signal: null }, 'the worker itself has lived through it')
}

t.test('a Redis that is emptied again and again in the middle of traffic loses no delivery', onQueue('redis'), (t) =>
  survives(
    t,
    async ({ url }) => {
      const redis = new Redis(url)
      await redis.flushall()
      redis.disconnect()
    },
    4,
  ),
)

t.test('nor does one that is killed and comes back with an empty directory', onQueue('redis'), (t) =>
  survives(
    t,
    async (redis) => {
      await redis.kill()
      await redis.startAnew()
    },
    2,
  ),
)

t.test('nor does one that freezes for ten seconds', onQueue('redis'), (t) =>
  survives(
    t,
    async (redis) => {
      redis.pause()
      await new Promise((resolve) => setTimeout(resolve, 10_000))
      redis.goOn()
    },
    1,
  ),
)
