import { createServer } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { createHttp } from '@paylog/runtime/http/http'
import { createHealth } from '@paylog/runtime/process/health'
import { createLog } from '@paylog/runtime/telemetry/log'
import { listen } from '@paylog/testing/fakeServer'
import t, { type Test } from 'tap'
import { createSystem } from './system.ts'

const log = createLog({ app: 'test', level: 'silent' })

/** Another process with a health page. */
async function startOther(t: Test) {
  const health = createHealth({ resultAgeMs: 0 })
  const http = createHttp({ log })
  await http.register(health.plugin)
  t.teardown(() => http.close())
  return { health, http, url: await http.listen({ host: '127.0.0.1', port: 0 }) }
}

t.test('the system has this process and what the health pages of the others say', async (t) => {
  const health = createHealth()
  health.check('postgres', async () => ({ connections: 3 }))
  const [worker, projector] = [await startOther(t), await startOther(t)]
  worker.health.check('redis', () => Promise.reject(new Error('no')))
  const others = [`worker=${worker.url}`, `projector=${projector.url}`, 'gone=http://127.0.0.1:1']
  const state = await createSystem({ app: 'api', health, others }).read(log)
  t.match(state, {
    version: /^\d+\.\d+\.\d+$/,
    processes: [
      { name: 'api', status: 'ready', checks: { postgres: { ok: true, connections: 3 } } },
      { name: 'worker', status: 'unavailable', checks: { redis: { ok: false } } },
      { name: 'projector', status: 'ready', checks: {} },
      { name: 'gone', status: 'unreachable', checks: {} },
    ],
  })
  for (const { ms } of state.processes) t.ok(ms >= 0 && ms < 2_000)
})

t.test(
  'a process that does not respond is unreachable after two seconds, and so is one that sends something else',
  async (t) => {
    const silent = await listen(
      t,
      createServer(() => undefined),
    )
    const page = await listen(
      t,
      createServer((_request, response) => response.end('<html>')),
    )
    const other = await listen(
      t,
      createServer((_request, response) => response.end('{"status":"fine","checks":{}}')),
    )
    const moved = await listen(
      t,
      createServer((_request, response) => response.writeHead(302, { location: `${page}/health/ready` }).end()),
    )
    const others = [`a=${silent}`, `b=${page}`, `c=${other}`, `d=${moved}`]
    const { processes } = await createSystem({ app: 'api', health: createHealth(), others }).read(log)
    t.same(
      processes.map(({ status }) => status),
      ['ready', 'unreachable', 'unreachable', 'unreachable', 'unreachable'],
    )
    const [, slow] = processes
    t.ok(slow && slow.ms > 1_900 && slow.ms < 3_000, `${slow?.ms}`)
  },
)

t.test('requests within a second share one reading', async (t) => {
  let asked = 0
  const server = createServer((_request, response) => {
    asked += 1
    response.end('{"status":"ready","checks":{}}')
  })
  const url = await listen(t, server)
  const system = createSystem({ app: 'api', health: createHealth(), others: [`worker=${url}`] })
  await Promise.all(Array.from({ length: 20 }, () => system.read(log)))
  t.equal(asked, 1)
  await pause(1_100)
  await system.read(log)
  t.equal(asked, 2)
})
