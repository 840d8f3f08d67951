import { Redis } from 'ioredis'
import t from 'tap'
import { killAndStart, survives } from './testing/roundTrip.ts'

const redisUrl = process.env.REDIS_TEST_URL

// Once only: whoever asks again for a payment that the dead gateway had under way has to wait until it counts as dead.
t.test('kill -9 of the gateway under load loses and doubles nothing', (t) =>
  survives(t, {}, async (system, n) => {
    if (n === 0) await killAndStart('gateway')(system)
  }),
)

if (redisUrl === undefined) t.comment('NOT TESTED: there is no redis-server, so the Redis queue is left out')
else
  t.test('an emptied Redis and a killed worker lose no webhook', (t) =>
    survives(t, { REDIS_URL: redisUrl }, async (system, n) => {
      const redis = new Redis(redisUrl)
      await redis.flushall()
      redis.disconnect()
      if (n === 1) await killAndStart('worker')(system)
    }),
  )
