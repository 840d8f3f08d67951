import { Redis } from 'ioredis'
import t from 'tap'
import { killAndStart, survives } from './testing/roundTrip.ts'

const redisUrl = process.env.REDIS_TEST_URL
/** Other files test on the same server at the same time, and do not want to be emptied. */
const ownDatabase = (serverUrl: string) => new URL('/1', serverUrl).href

// Once only: whoever asks again for a payment that the dead gateway had under way has to wait until it counts as dead.
t.test('kill -9 of the gateway under load loses and doubles nothing', (t) =>
  survives(t, {
    exactlyOnce: true,
    async dreadful(system, n) {
      if (n === 0) await killAndStart('gateway')(system)
    },
  }),
)

if (redisUrl === undefined) t.comment('NOT TESTED: there is no redis-server, so the Redis queue is left out')
else
  t.test('an emptied Redis and a killed worker lose no webhook and make none up', (t) =>
    survives(t, {
      env: { REDIS_URL: ownDatabase(redisUrl) },
      async dreadful(system, n) {
        const redis = new Redis(ownDatabase(redisUrl))
        await redis.flushdb()
        redis.disconnect()
        if (n === 1) await killAndStart('worker')(system)
      },
    }),
  )
