import { createEndpoint } from '@paylog/testing/endpoint'
import { waitFor } from '@paylog/testing/waitFor'
import t from 'tap'
import { createFaultRig, everythingArrives, type RunningWorker, rawNode } from './testing/faultRig.ts'
import { onQueue, queueKinds, redisTestUrl } from './testing/rig.ts'

const queueOf = (kind: (typeof queueKinds)[number]) =>
  kind === 'redis' && redisTestUrl ? { REDIS_URL: redisTestUrl } : {}

const rounds = Number(process.env.PAYLOG_TEST_CYCLES ?? 1)
const perRound = 50

for (const kind of queueKinds) {
  t.test(`on ${kind}`, onQueue(kind), async (t) => {
    t.test(
      'workers that are replaced one after the other under load lose nothing and send nothing twice',
      async (t) => {
        const endpoint = await createEndpoint(t)
        const rig = await createFaultRig(t, { ...rawNode(1, endpoint.url), ...queueOf(kind) })
        let running: RunningWorker = await rig.start()
        const total = (rounds + 2) * perRound
        const appending = rig.append(total)
        for (let round = 1; round <= rounds; round++) {
          await waitFor(() => endpoint.received.length >= round * perRound, { what: 'traffic', timeoutMs: 30_000 })
          const next = await rig.start()
          await running.stop()
          t.strictSame(await running.exited, { code: 0, signal: null })
          running = next
        }
        await appending
        await everythingArrives(t, rig, endpoint)
        t.equal(endpoint.received.length, total)
      },
    )
  })
}
