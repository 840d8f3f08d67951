import { createEndpoint } from '@paylog/testing/endpoint'
import { startTcpProxy } from '@paylog/testing/tcpProxy'
import t from 'tap'
import { becomes, createFaultRig, everythingArrives, rawNode } from './testing/faultRig.ts'
import { startRedisServer } from './testing/redisServer.ts'
import { onQueue } from './testing/rig.ts'

// Each has a log and workers of its own, and most of its time is waiting.
t.jobs = 2

t.test(
  'a log that is gone, or cut off without a word, makes a worker not ready until it is back',
  { buffered: true },
  async (t) => {
    const endpoint = await createEndpoint(t)
    const rig = await createFaultRig(t, rawNode(1, endpoint.url))
    const { port } = new URL(rig.node.connectionString)
    const proxy = await startTcpProxy(t, Number(port))
    const worker = await rig.start({ EVENTSTORE_URL: `esdb://127.0.0.1:${proxy.port}?tls=false` })
    await becomes(worker, 200)
    proxy.freezeConnections()
    await rig.append(1)
    await becomes(worker, 503)
    const frozenAt = performance.now()
    await everythingArrives(t, rig, endpoint, 60_000)
    t.comment(`delivered ${Math.round(performance.now() - frozenAt)} ms after the cut was noticed`)
    await becomes(worker, 200)
    await rig.node.kill()
    t.match((await becomes(worker, 503)).checks.log, { ok: false })
    await rig.node.start()
    await becomes(worker, 200)
    await rig.append(1)
    await everythingArrives(t, rig, endpoint)
  },
)

t.test('so does a queue that is gone', { ...onQueue('redis'), buffered: true }, async (t) => {
  const endpoint = await createEndpoint(t)
  const redis = await startRedisServer(t)
  const rig = await createFaultRig(t, { ...rawNode(1, endpoint.url), REDIS_URL: redis.url })
  const worker = await rig.start()
  await becomes(worker, 200)
  await redis.kill()
  await rig.append(3)
  t.match((await becomes(worker, 503)).checks, { queue: { ok: false }, postgres: { ok: true }, log: { ok: true } })
  await redis.startAnew()
  await becomes(worker, 200)
  await everythingArrives(t, rig, endpoint)
})
