import t from 'tap'
import { createHttp } from '../http/http.ts'
import { createLog } from '../telemetry/log.ts'
import { createHealth } from './health.ts'

function testServer() {
  const http = createHttp({ log: createLog({ app: 'test', level: 'silent' }) })
  const health = createHealth()
  http.register(health.plugin)
  return { http, health }
}

t.test('readiness is 200 with the details of all checks when all succeed', async (t) => {
  const { http, health } = testServer()
  health.check('postgres', async () => ({ connections: 3 }))
  const response = await http.inject('/health/ready')
  t.equal(response.statusCode, 200)
  t.strictSame(response.json(), { status: 'ready', checks: { postgres: { ok: true, connections: 3 } } })
})

t.test('readiness is 503 without a reason when a check fails, throws or times out', async (t) => {
  const { http, health } = testServer()
  health.check('fine', async () => ({}))
  health.check('failing', async () => {
    throw new Error('secret')
  })
  health.check('throwing', () => {
    throw new Error('secret')
  })
  health.check('silent', () => new Promise(() => undefined))
  const response = await http.inject('/health/ready')
  t.equal(response.statusCode, 503)
  t.strictSame(response.json(), {
    status: 'unavailable',
    checks: { fine: { ok: true }, failing: { ok: false }, throwing: { ok: false }, silent: { ok: false } },
  })
})

t.test('a failed check may return details', async (t) => {
  const { http, health } = testServer()
  health.check('deliveries', async () => ({ ok: false, overdue_seconds: 90 }))
  const response = await http.inject('/health/ready')
  t.equal(response.statusCode, 503)
  t.strictSame(response.json(), {
    status: 'unavailable',
    checks: { deliveries: { ok: false, overdue_seconds: 90 } },
  })
})

t.test('liveness does not depend on checks', async (t) => {
  const { http, health } = testServer()
  health.check('failing', async () => {
    throw new Error('no')
  })
  const response = await http.inject('/health/live')
  t.equal(response.statusCode, 200)
})

t.test('readiness requests within a second share one run of the checks', async (t) => {
  const { http, health } = testServer()
  let runs = 0
  health.check('postgres', async () => ({ run: ++runs }))
  const readRun = async () => (await http.inject('/health/ready')).json().checks.postgres.run
  t.same(await Promise.all(Array.from({ length: 50 }, readRun)), Array(50).fill(1))
  t.equal(await readRun(), 1)
  await new Promise((resolve) => setTimeout(resolve, 1_100))
  t.equal(await readRun(), 2)
})

t.test('a check that keeps failing is logged once, until it has succeeded', async (t) => {
  const health = createHealth({ resultAgeMs: -1 })
  let isUp = false
  health.check('event_store', async () => (isUp ? {} : { ok: false }))
  const lines: object[] = []
  const log = { warn: (detail: object) => void lines.push(detail) }
  for (const [up, expected] of [
    [false, 1],
    [false, 1],
    [true, 1],
    [false, 2],
  ] as const) {
    isUp = up
    await health.readiness(log)
    t.equal(lines.length, expected)
  }
})
