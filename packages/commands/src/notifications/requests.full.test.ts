// HTTP handling of the receivers, independent of the provider.
import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { request } from 'node:http'
import { text } from 'node:stream/consumers'
import { providerEventStream } from '@paylog/event-store/streamName'
import { type Provider, ProviderError } from '@paylog/providers/provider'
import { signSandboxEvent } from '@paylog/providers/sandbox/notifications'
import { createSandbox } from '@paylog/providers/sandbox/sandbox'
import { startEventStore } from '@paylog/testing/eventStore'
import t from 'tap'
import { commandApiHarness, webhookSecret } from '../testing/commandApiHarness.ts'
import { applyStoredNotification } from './notifications.ts'

const rotated = 'sandbox-new-secret'
const sandbox = createSandbox({ webhookSecrets: [webhookSecret, rotated] })
/** Overrides of the provider's methods. */
let verify: Provider['verifyNotification'] | undefined
let complete: Provider['completeNotification'] | undefined
const provider: Provider = {
  ...sandbox,
  verifyNotification: async (notification) => (verify ?? sandbox.verifyNotification)(notification),
  completeNotification: async (notification) => (await complete?.(notification)) ?? notification,
}
const log = await startEventStore(t)
const { app, store, logged, workflow, lastPosition } = await commandApiHarness(t, {
  providers: [provider],
  log,
  timing: { appendRetryTimeoutMs: 3_000 },
})
const url = await app.listen({ host: '127.0.0.1', port: 0 })

t.beforeEach(() => {
  verify = undefined
  complete = undefined
  logged.length = 0
})

let counter = 0
const seconds = () => Math.floor(Date.now() / 1000)
function event(note = '') {
  const id = `evt_${counter++}`
  const body = JSON.stringify({ id, type: 'something.new', created: seconds(), data: { object: { id: 'x', note } } })
  return { id, body, inbox: providerEventStream('sandbox', id) }
}
const signed = (body: string, secret = webhookSecret) => signSandboxEvent(secret, body, seconds())
const typesOf = async (stream: string) => (await store.readStream(stream)).map(({ type }) => type)

/** Sends exactly these headers, and the body in one piece or chunked. */
async function send(
  headers: Record<string, string | string[]>,
  body: string | readonly string[],
  path = '/webhooks/sandbox',
) {
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number; json: unknown }>()
  const sending = request(`${url}${path}`, { method: 'POST', headers, agent: false })
  sending.on('error', reject).on('response', (response) => {
    text(response).then((body) => resolve({ status: response.statusCode ?? 0, json: JSON.parse(body) }), reject)
  })
  if (typeof body === 'string') sending.end(body)
  else {
    for (const part of body) sending.write(part)
    sending.end()
  }
  return promise
}

t.test('a notification is accepted with any content type [4.12-content-type]', async (t) => {
  for (const type of [
    'application/json',
    'application/json; charset=utf-8',
    'application/json;charset=UTF-8',
    'text/plain',
    'application/x-www-form-urlencoded',
    'application/octet-stream',
    'json',
    'application/json;',
    'nonsense/ /nonsense',
    '',
    undefined,
  ]) {
    const { body, inbox } = event('ü \u2028')
    const headers = { 'sandbox-signature': signed(body), ...(type === undefined ? {} : { 'content-type': type }) }
    t.same(await send(headers, body), { status: 200, json: { received: true } }, `${type}`)
    const [received] = await store.readStream(inbox)
    t.match(received?.data, { body })
  }
  const { body, inbox } = event()
  t.equal((await send({ 'sandbox-signature': signed(body) }, [body.slice(0, 10), body.slice(10)])).status, 200)
  t.same(await typesOf(inbox), ['ProviderEventReceived', 'ProviderEventUnmatched'], 'chunked')
})

t.test('a notification body of 1 MiB is accepted, a larger one is 413 [8-receiver-body]', async (t) => {
  const frame = event().body.length
  const large = event('x'.repeat(1024 * 1024 - frame))
  t.equal(large.body.length, 1024 * 1024)
  t.equal((await send({ 'sandbox-signature': signed(large.body) }, large.body)).status, 200)
  const tooLarge = event('x'.repeat(1024 * 1024 - frame + 1))
  const before = await lastPosition()
  const rejected = { status: 413, json: { success: false, error: { code: 'body_too_large' } } }
  t.match(await send({ 'sandbox-signature': signed(tooLarge.body) }, tooLarge.body), rejected)
  const half = tooLarge.body.length / 2
  const chunks = [tooLarge.body.slice(0, half), tooLarge.body.slice(half)]
  t.match(await send({ 'sandbox-signature': signed(tooLarge.body) }, chunks), rejected, 'without content-length')
  t.equal(await lastPosition(), before)
})

t.test(
  'the signature header may have any case and any valid secret, but not be repeated or truncated [10.2-rotation]',
  async (t) => {
    const before = await lastPosition()
    const { body } = event()
    const good = signed(body)
    const other = createHmac('sha256', webhookSecret).update(`${seconds()}.other`).digest('hex')
    for (const header of [
      {},
      { 'sandbox-signature': '' },
      { 'sandbox-signature': [good, good] },
      { 'sandbox-signature': `${good},${good}` },
      { 'sandbox-signature': good.toUpperCase() },
      { 'sandbox-signature': good.slice(0, -1) },
      { 'sandbox-signature': `t=${seconds()},v1=${other}` },
      { 'sandbox-signature': `t=${seconds()}0,v1=${other}` },
      { 'stripe-signature': good },
    ])
      t.match(await send(header, body), { status: 400, json: { error: { code: 'invalid_signature' } } })
    for (const header of [{}, { 'sandbox-signature': signed('') }])
      t.match(await send(header, ''), { status: 400, json: { error: { code: /^invalid_/ } } }, 'without a body')
    t.equal(await lastPosition(), before)
    t.equal((await send({ 'Sandbox-Signature': good }, body)).status, 200)
    const next = event().body
    t.equal((await send({ 'SANDBOX-SIGNATURE': signed(next, rotated) }, next)).status, 200)
  },
)

t.test('the receiver of a disabled provider is 404, like an unknown path [4.12-disabled]', async (t) => {
  const before = await lastPosition()
  const { body } = event()
  const message = 'Not found'
  const unknown = { status: 404, json: { error: { code: 'not_found', message, details: undefined } } }
  t.match(await send({ 'content-type': 'application/json' }, body, '/webhooks/nowhere'), unknown)
  for (const path of ['/webhooks/stripe', '/webhooks/paypal', '/webhooks/authorize-net'])
    for (const sent of [body, '']) t.match(await send({ 'sandbox-signature': signed(body) }, sent, path), unknown)
  t.equal(await lastPosition(), before)
})

t.test('a notification with invalid headers is rejected before its body is read', async (t) => {
  const late = `t=${seconds() - 301},v1=${'0'.repeat(64)}`
  for (const [status, path, headers] of [
    [404, '/webhooks/stripe', { 'stripe-signature': late }],
    [400, '/webhooks/sandbox', {}],
    [400, '/webhooks/sandbox', { 'sandbox-signature': 'v1=' }],
    [400, '/webhooks/sandbox', { 'sandbox-signature': late }],
    [413, '/webhooks/sandbox', { 'sandbox-signature': signed(''), 'content-length': '1048577' }],
  ] as const) {
    const sending = request(`${url}${path}`, { method: 'POST', headers: { 'content-length': '1000', ...headers } })
    sending.on('error', () => undefined).flushHeaders()
    const [response] = await once(sending, 'response')
    t.equal(response.statusCode, status, JSON.stringify(headers))
    sending.destroy()
  }
})

t.test('receivers accept only POST, and other receiver paths do not exist [4-receiver-paths]', async (t) => {
  for (const method of ['GET', 'HEAD', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'] as const)
    for (const receiver of ['stripe', 'paypal', 'authorize-net', 'sandbox'])
      t.equal((await app.inject({ method, url: `/webhooks/${receiver}` })).statusCode, 404, `${method} ${receiver}`)
  for (const path of ['/webhooks/authorize_net', '/webhooks/Stripe', '/webhooks/adyen', '/webhooks'])
    t.match(await send({}, '{}', path), { status: 404, json: { error: { code: 'not_found' } } }, path)
})

t.test('a notification that cannot be verified is 502 and not stored [6.1-no-retry]', async (t) => {
  const before = await lastPosition()
  const { body } = event()
  for (const kind of ['unavailable', 'unknown', 'rejected'] as const) {
    verify = async () => {
      throw new ProviderError(kind, 'secret_code', 'secret text')
    }
    const response = await send({ 'sandbox-signature': signed(body) }, body)
    t.match(response, { status: 502, json: { error: { code: 'provider_unavailable', details: undefined } } })
    t.notMatch(JSON.stringify(response.json), /secret/)
  }
  t.equal(await lastPosition(), before)
})

t.test(
  'a notification that cannot be applied is stored and acknowledged, and logged without its content',
  async (t) => {
    const { body, inbox } = event('a note of the payer')
    const signature = signed(body)
    complete = async () => {
      throw new ProviderError('unknown', 'timeout', 'The provider timed out', {
        cause: Object.assign(new Error('No response'), { headers: { authorization: 'Bearer secret' }, body }),
      })
    }
    t.same(await send({ 'sandbox-signature': signature }, body), { status: 200, json: { received: true } })
    t.same(await typesOf(inbox), ['ProviderEventReceived'])
    t.equal(logged.length, 1)
    t.match(JSON.parse(logged[0] ?? ''), { level: 'warn', err: { code: 'timeout', kind: 'unknown' } })
    for (const secret of ['a note', 'Bearer', webhookSecret, signature.slice(-64)]) t.notOk(logged[0]?.includes(secret))
    t.equal((await send({ 'sandbox-signature': signature }, body)).status, 200, 'repeated while it cannot be applied')
    complete = undefined
    t.equal((await send({ 'sandbox-signature': signature }, body)).status, 200, 'repeated when it can be applied')
    t.same(await typesOf(inbox), ['ProviderEventReceived', 'ProviderEventUnmatched'])
  },
)

t.test(
  'a notification is acknowledged when the event store fails right after storing it',
  { timeout: 60_000 },
  async (t) => {
    const { body, inbox } = event()
    const { handle } = workflow.store
    const handleAndDie: typeof handle = async (command) => {
      const handled = await handle(command)
      await log.kill()
      return handled
    }
    Object.assign(workflow.store, { handle: handleAndDie })
    t.equal((await send({ 'sandbox-signature': signed(body) }, body)).status, 200)
    Object.assign(workflow.store, { handle })
    t.match(JSON.parse(logged[0] ?? ''), { level: 'warn', err: { code: 'event_store_unavailable' } })
    const next = event()
    const rejected = await send({ 'sandbox-signature': signed(next.body) }, next.body)
    t.match(
      rejected,
      { status: 503, json: { error: { code: 'event_store_unavailable' } } },
      'not stored, so not acknowledged',
    )
    await log.start()
    t.same(await typesOf(inbox), ['ProviderEventReceived'])
    t.equal(await applyStoredNotification(workflow, inbox), true)
    t.same(await typesOf(inbox), ['ProviderEventReceived', 'ProviderEventUnmatched'])
  },
)
