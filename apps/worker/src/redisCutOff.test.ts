import { createEndpoint } from '@paylog/testing/endpoint'
import { startTcpProxy } from '@paylog/testing/tcpProxy'
import t from 'tap'
import { becomes, createFaultRig, everythingArrives, rawNode } from './testing/faultRig.ts'
import { startRedisServer } from './testing/redisServer.ts'
import { onQueue } from './testing/rig.ts'

t.test(
  'a worker whose connections to Redis are cut off without a word is not ready, and comes back by itself',
  onQueue('redis'),
  async (t) => {
    const redis = await startRedisServer(t)
    const proxy = await startTcpProxy(t, redis.port)
    const endpoint = await createEndpoint(t)
    const rig = await createFaultRig(t, { ...rawNode(1, endpoint.url), REDIS_URL: `redis://127.0.0.1:${proxy.port}` })
    const worker = await rig.start()
    await rig.append(5)
    await everythingArrives(t, rig, endpoint)
    await becomes(worker, 200)
    proxy.freezeConnections()
    await rig.append(5)
    t.match((await becomes(worker, 503)).checks, { queue: { ok: false }, postgres: { ok: true }, log: { ok: true } })
    const noticedAt = performance.now()
    await everythingArrives(t, rig, endpoint, 60_000)
    await becomes(worker, 200)
    t.comment(`works again ${Math.round((performance.now() - noticedAt) / 1_000)} s after the cut was noticed`)
  },
)
