import { onQueue, queueKinds, redisTestUrl } from '@paylog/deliveries/testing/workerHarness'
import { assertSurvivesKills } from '@paylog/deliveries/testing/workerProcessHarness'
import { testCycles } from '@paylog/testing/testEnvironment'
import t from 'tap'

const queueOf = (kind: (typeof queueKinds)[number]) =>
  kind === 'redis' && redisTestUrl ? { REDIS_URL: redisTestUrl } : {}

const kills = testCycles(2)

for (const kind of queueKinds)
  t.test(
    `a worker killed at random moments delivers every event once recorded, and nothing else, on ${kind}`,
    onQueue(kind),
    (t) => assertSurvivesKills(t, { env: queueOf(kind), kills, seed: 20_260_101 }),
  )
