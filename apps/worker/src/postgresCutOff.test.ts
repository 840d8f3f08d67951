import { createEndpoint } from '@paylog/testing/endpoint'
import { createTestDatabase } from '@paylog/testing/postgres'
import { startTcpProxy } from '@paylog/testing/tcpProxy'
import t from 'tap'
import { becomes, createFaultRig, everythingArrives, rawNode } from './testing/faultRig.ts'

t.test(
  'a worker whose connections to Postgres are cut off without a word is not ready, and comes back by itself',
  async (t) => {
    const endpoint = await createEndpoint(t)
    const { databaseUrl } = await createTestDatabase(t)
    const proxy = await startTcpProxy(t, Number(new URL(databaseUrl).port))
    const throughProxy = new URL(databaseUrl)
    throughProxy.port = String(proxy.port)
    const rig = await createFaultRig(t, rawNode(1, endpoint.url), { databaseUrl })
    const worker = await rig.start({ DATABASE_URL: throughProxy.href })
    await rig.append(5)
    await everythingArrives(t, rig, endpoint)
    await becomes(worker, 200)
    proxy.freezeConnections()
    await rig.append(5)
    await becomes(worker, 503)
    const frozenAt = performance.now()
    await everythingArrives(t, rig, endpoint, 80_000)
    await becomes(worker, 200)
    t.comment(`works again ${Math.round((performance.now() - frozenAt) / 1_000)} s after the cut was noticed`)
  },
)
