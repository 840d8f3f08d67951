import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'tap'
import { measureLoad } from './load.ts'
import { seededRandom } from './seededRandom.ts'

test('measureLoad with a rate uses all its connections, because servers close one that sends nothing', async (t) => {
  const requests = new Map<number, number>()
  const server = createServer((request, response) => {
    const port = request.socket.remotePort ?? 0
    requests.set(port, (requests.get(port) ?? 0) + 1)
    response.setHeader('content-length', 0).end()
  }).listen(0, '127.0.0.1')
  t.teardown(() => server.close())
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const load = { port, connections: 8, seconds: 0.5, rate: 100 }
  const times = await measureLoad(load, () => 'GET / HTTP/1.1\r\nhost: localhost\r\n\r\n', seededRandom(1))
  const counts = [...requests.values()]
  t.equal(counts.length, 8)
  t.equal(
    counts.reduce((sum, count) => sum + count, 0),
    times.length,
  )
})
