import { waitFor } from '@paylog/testing/waitFor'
import t from 'tap'
import { Type } from 'typebox'
import { loadConfig } from '../config/environment.ts'
import { apiHarness } from '../testing/apiHarness.ts'
import { sendRaw } from '../testing/rawClient.ts'
import { apiVariables } from './apiServer.ts'

t.test('an API responds 503 while its event loop is blocked, and recovers', async (t) => {
  const { url } = await apiHarness(t, { SHED_EVENT_LOOP_DELAY: '30ms' }, async (http) => {
    http.get('/things', async () => ({}))
  })
  const status = async (path: string) => (await fetch(`${url}${path}`)).status
  t.equal(await status('/things'), 200)
  let isBlocked = true
  const block = () => {
    const until = performance.now() + 250
    while (performance.now() < until);
    if (isBlocked) setImmediate(block)
  }
  block()
  await waitFor(async () => (await status('/things')) === 503, { what: 'a 503' })
  const overloaded = await fetch(`${url}/things`)
  t.match(JSON.parse(await overloaded.text()), { success: false, error: { code: 'service_unavailable' } })
  t.equal(overloaded.headers.get('retry-after'), '5')
  for (const path of ['/health/live', '/health/ready', '/metrics']) t.equal(await status(path), 200, path)
  isBlocked = false
  await waitFor(async () => (await status('/things')) === 200, { what: 'requests to be accepted again' })
})

t.test('an API with SHED_EVENT_LOOP_DELAY=0 sheds no load', async (t) => {
  const { url } = await apiHarness(t, { SHED_EVENT_LOOP_DELAY: '0' }, async (http) => {
    http.get('/things', async () => ({}))
  })
  for (let second = 0; second < 3; second++) {
    const until = performance.now() + 1_100
    while (performance.now() < until);
    t.equal((await fetch(`${url}/things`)).status, 200)
  }
})

t.test('an incomplete request gets 408 after the request timeout', async (t) => {
  const { url } = await apiHarness(t, {}, async (http) => {
    // Node reads both each second; their values: connections.full.test.ts.
    Object.assign(http.server, { headersTimeout: 500, requestTimeout: 1_000 })
    http.post('/things', async () => ({}))
  })
  const head = 'POST /things HTTP/1.1\r\nHost: x\r\n'
  const slow = { headers: head, body: `${head}Content-Type: application/json\r\nContent-Length: 10\r\n\r\n{` }
  await Promise.all(
    Object.entries(slow).map(async ([what, bytes]) =>
      t.match(await sendRaw(t, url, bytes), /^HTTP\/1\.1 408 .*"code":"invalid_request"/s, what),
    ),
  )
})

t.test(
  'the default configuration listens on loopback, allows no CORS origin and has rate limits [8-rate-defaults]',
  async (t) => {
    const { CORS_ORIGINS, ...config } = loadConfig(Type.Object(apiVariables), {})
    t.same(CORS_ORIGINS, [])
    t.match(config, {
      HOST: '127.0.0.1',
      PORT: 8080,
      MAX_CONNECTIONS_PER_ADDRESS: 500,
      RATE_LIMIT_PER_MINUTE: 600,
      RATE_LIMIT_ANONYMOUS_PER_MINUTE: 60,
      RATE_LIMIT_UNAUTHENTICATED_PER_MINUTE: 60,
    })
  },
)

t.test('proxies, origins and limits outside their allowed values are configuration errors', async (t) => {
  const Config = Type.Object(apiVariables)
  const bad: Record<string, readonly string[]> = {
    TRUST_PROXY: ['true', '*', '10.0.0.0/8,::/0', 'proxy.example.com'],
    CORS_ORIGINS: [
      '*',
      'null',
      'shop.example.com',
      'https://shop.example.com/path',
      'https://*.example.com',
      'file:///',
    ],
    MAX_CONNECTIONS: ['0', '-1', 'many'],
    MAX_CONNECTIONS_PER_ADDRESS: ['-1', 'many'],
    RATE_LIMIT_PER_MINUTE: ['-1', '1.5', '1000001'],
    SHED_EVENT_LOOP_DELAY: ['-1', 'soon'],
    REDIS_URL: ['http://redis.example.com'],
  }
  for (const [name, values] of Object.entries(bad)) {
    for (const value of values) {
      const load = () => loadConfig(Config, { [name]: value })
      t.throws(load, { message: new RegExp(`^Bad configuration: ${name} must be`) }, `${name}=${value}`)
    }
  }
  const { TRUST_PROXY } = loadConfig(Config, { TRUST_PROXY: '10.0.0.0/8, ::1,192.0.2.1, fd00::/8' })
  t.same(TRUST_PROXY, ['10.0.0.0/8', '::1', '192.0.2.1', 'fd00::/8'])
})
