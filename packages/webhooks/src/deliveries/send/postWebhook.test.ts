import { startFakeEndpoint } from '@paylog/testing/fakeEndpoint'
import t from 'tap'
import { createPoster } from '../../testing/webhookPoster.ts'

t.test('status 200 is a success, and the start of the response is stored [6.2-success]', async (t) => {
  const endpoint = await startFakeEndpoint(t, (response) => response.end('x'.repeat(20_000)))
  const result = await createPoster(t)(endpoint.url)
  t.match(result, { httpStatus: 200, error: null })
  t.equal(result.responseBody?.length, 16_384)
  t.match(endpoint.received, [{ id: 'id-1', body: '{"a":1}', headers: { 'content-type': 'application/json' } }])
})

t.test('postWebhook reuses its connections to an endpoint', async (t) => {
  const ports = new Set<number | undefined>()
  const endpoint = await startFakeEndpoint(t, (response, _, request) => {
    ports.add(request.socket.remotePort)
    response.end('ok')
  })
  const post = createPoster(t)
  for (let count = 0; count < 5; count++) await post(endpoint.url)
  t.ok(ports.size < 3, `${ports.size} connections for 5 requests`)
})

t.test('every other status is a failure, and redirects are not followed [6.2-failure]', async (t) => {
  const elsewhere = await startFakeEndpoint(t)
  const post = createPoster(t)
  for (const status of [301, 302, 307, 308]) {
    const endpoint = await startFakeEndpoint(t, (response) =>
      response.writeHead(status, { location: elsewhere.url }).end(),
    )
    t.match(await post(endpoint.url, { successStatus: '2xx' }), { httpStatus: status, error: 'redirect' })
  }
  t.equal(elsewhere.received.length, 0)
  const classes = { 400: 'unexpected_status', 404: 'unexpected_status', 410: 'gone', 429: 'rate_limited' }
  for (const [status, error] of Object.entries({ ...classes, 500: 'unexpected_status', 503: 'unexpected_status' })) {
    const endpoint = await startFakeEndpoint(t, (response) => response.writeHead(Number(status)).end('no'))
    const expected = { httpStatus: Number(status), error, responseBody: 'no', retryAfterMs: undefined }
    t.match(await post(endpoint.url, { successStatus: '2xx' }), expected)
  }
})

t.test('the response body of a chat service determines whether an attempt succeeded', async (t) => {
  const post = createPoster(t)
  const quiet = await startFakeEndpoint(t, (response) => response.writeHead(204).end())
  t.match(await post(quiet.url, { format: 'discord' }), { httpStatus: 204, error: null })
  const failing = await startFakeEndpoint(t, (response) => response.end('{"ok":false,"description":"chat not found"}'))
  t.match(await post(failing.url, { format: 'telegram' }), { httpStatus: 200, error: 'rejected' })
})

t.test('an endpoint that does not respond within the timeout fails [6.2-timeout]', async (t) => {
  const endpoint = await startFakeEndpoint(t, () => undefined)
  const before = performance.now()
  t.match(await createPoster(t)(endpoint.url, { timeoutMs: 200 }), { httpStatus: null, error: 'timeout' })
  t.ok(performance.now() - before < 10_000)
})

t.test('an endpoint that responds within its timeout succeeds', async (t) => {
  const endpoint = await startFakeEndpoint(t, (response) => {
    setTimeout(() => response.writeHead(200).write('late'), 1_100)
    setTimeout(() => response.end(' and later'), 2_200)
  })
  const result = await createPoster(t)(endpoint.url, { timeoutMs: 30_000 })
  t.match(result, { httpStatus: 200, error: null, responseBody: 'late and later' })
})

t.test('a response of a gigabyte is not read, and its connection is closed', async (t) => {
  let written = 0
  const closed = Promise.withResolvers<void>()
  const flood = await startFakeEndpoint(t, (response) => {
    const chunk = Buffer.alloc(1024 * 1024, 'x')
    response.writeHead(200, { 'content-length': 1024 ** 3 }).on('close', () => closed.resolve())
    const pour = () => {
      do written += chunk.length
      while (!response.destroyed && written < 1024 ** 3 && response.write(chunk))
      if (!response.destroyed) response.once('drain', pour)
    }
    pour()
  })
  const before = process.memoryUsage.rss()
  const post = createPoster(t)
  for (let count = 0; count < 5; count++) t.match(await post(flood.url), { httpStatus: 200, error: null })
  await closed.promise
  t.ok(written < 100 * 1024 ** 2, `${written} bytes were written`)
  t.ok(process.memoryUsage.rss() - before < 150 * 1024 ** 2)
})

t.test(
  'a slow response body is read until the timeout, the received part is stored, and the status counts',
  async (t) => {
    const endpoint = await startFakeEndpoint(t, (response) => {
      response.writeHead(200, { 'content-length': 1_000 })
      const timer = setInterval(() => response.write('x'), 50)
      response.on('close', () => clearInterval(timer))
    })
    const before = performance.now()
    const result = await createPoster(t)(endpoint.url, { timeoutMs: 1_000 })
    t.ok(performance.now() - before < 10_000)
    t.match(result, { httpStatus: 200, error: null, responseBody: /^x{2,20}$/ })
  },
)

t.test('at most 16 KiB of a response body are stored [10.4-response-kept]', async (t) => {
  const post = createPoster(t)
  for (const body of [Buffer.alloc(20_000, 0), Buffer.alloc(20_000, 0xff), Buffer.from('a€'.repeat(8_000))]) {
    const endpoint = await startFakeEndpoint(t, (response) => response.end(body))
    const { responseBody } = await post(endpoint.url)
    t.ok(Buffer.byteLength(responseBody ?? '') <= 16_384)
    t.ok(Buffer.byteLength(responseBody ?? '') > 16_380, 'the limit is used up')
    t.notMatch(responseBody, '\0')
  }
  const whole = await startFakeEndpoint(t, (response) => response.end('y'.repeat(16_384)))
  t.equal((await post(whole.url)).responseBody, 'y'.repeat(16_384))
})

t.test('aborting the signal makes postWebhook throw', async (t) => {
  const endpoint = await startFakeEndpoint(t, () => undefined)
  await t.rejects(createPoster(t)(endpoint.url, { signal: AbortSignal.timeout(100) }), { name: 'TimeoutError' })
})

t.test('nothing is sent when the signal is already aborted', async (t) => {
  const endpoint = await startFakeEndpoint(t)
  const reason = new Error('stopped')
  await t.rejects(createPoster(t)(endpoint.url, { signal: AbortSignal.abort(reason) }), reason)
  t.equal(endpoint.received.length, 0)
})
