import { createServer } from 'node:http'
import type { Socket } from 'node:net'
import { onQueue, redisTestUrl } from '@paylog/deliveries/testing/workerHarness'
import { createWorkerProcessHarness, rawEndpointVariables } from '@paylog/deliveries/testing/workerProcessHarness'
import { listen } from '@paylog/testing/fakeServer'
import { testCycles } from '@paylog/testing/testEnvironment'
import { waitFor } from '@paylog/testing/waitFor'
import t from 'tap'

const deaths = testCycles(3)

t.test(
  'a delivery succeeds although each worker that sends it is killed during the request',
  onQueue('redis'),
  async (t) => {
    let connections = 0
    const ids: string[] = []
    const doomed = new WeakSet<Socket>()
    // Connections of a doomed worker get no response, and their requests have no effect.
    const server = createServer((request, response) => {
      if (doomed.has(request.socket)) return
      ids.push(String(request.headers['webhook-id']))
      response.end('ok')
    })
    server.on('connection', (socket: Socket) => {
      if (connections++ < deaths) doomed.add(socket)
    })
    const url = await listen(t, server)
    const harness = await createWorkerProcessHarness(t, {
      ...rawEndpointVariables(1, url),
      ...(redisTestUrl ? { REDIS_URL: redisTestUrl } : {}),
    })
    await harness.append(1)
    for (let death = 1; death <= deaths; death++) {
      const worker = await harness.start()
      await waitFor(() => connections >= death, { what: `connection ${death}` })
      await worker.kill('SIGKILL')
    }
    await harness.start()
    await waitFor(async () => (await harness.count('succeeded')) === 1, { what: 'the delivery' })
    const { rows } = await harness.pool.query('select id, attempts from webhooks.all_deliveries')
    t.strictSame(rows, [{ id: ids[0], attempts: 1 }])
    t.equal(ids.length, 1)
    t.equal(connections, deaths + 1)
  },
)
