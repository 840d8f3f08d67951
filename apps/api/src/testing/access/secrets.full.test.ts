// Secrets of operators and providers appear in no log, even when calls fail.

import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { listen } from '@paylog/testing/fakeServer'
import { waitFor } from '@paylog/testing/waitFor'
import t, { type Test } from 'tap'
import { addressBody, paymentBody } from './accessFixture.ts'
import { type AccessHarness, type Client, createClient, startAccessHarness } from './accessHarness.ts'
import { leaksIn, leaksInLogs } from './leaks.ts'
import { ada, anonymous, emailOf, g1 } from './people.ts'

const cardNumber = '4242 4242 4242 4242'

/** Responds with an error that quotes the whole request, each time of another kind. */
async function startQuotingServer(t: Test) {
  const calls: { path: string; quoted: string }[] = []
  const statuses = [500, 400, 401, 402, 404, 429, 503]
  const server = createServer((request, response) => {
    text(request).then(
      (body) => {
        const { url: path = '', headers } = request
        const quoted = `${path} ${JSON.stringify(headers)} ${body}`
        const status = statuses[calls.length % statuses.length] ?? 500
        calls.push({ path, quoted })
        const error = { type: 'api_error', code: 'broken', message: `You have sent ${quoted}` }
        const messages = { resultCode: 'Error', message: [{ code: 'E00001', text: error.message }] }
        response.writeHead(status, { 'content-type': 'application/json' })
        response.end(JSON.stringify({ error, name: 'BROKEN', message: error.message, details: [error], messages }))
      },
      () => response.destroy(),
    )
  })
  return { origin: await listen(t, server), calls }
}

const atProviders = (origin: string) => ({
  STRIPE_SECRET_KEY: 'cred.stripe.key',
  STRIPE_WEBHOOK_SECRET: 'cred.stripe.webhook',
  STRIPE_API_BASE: origin,
  PAYPAL_CLIENT_ID: 'cred.paypal.id',
  PAYPAL_CLIENT_SECRET: 'cred.paypal.secret',
  PAYPAL_WEBHOOK_ID: 'cred.paypal.webhook',
  PAYPAL_API_BASE: origin,
  AUTHORIZE_NET_API_LOGIN_ID: 'cred.net.login',
  AUTHORIZE_NET_TRANSACTION_KEY: 'cred.net.key',
  AUTHORIZE_NET_SIGNATURE_KEY: Buffer.alloc(64, 'cred.net.signature').toString('hex'),
  AUTHORIZE_NET_API_BASE: origin,
  PROVIDER_TIMEOUT_MS: '2000',
})

t.test('a running system logs no secret of its operator, of its providers or of their responses', async (t) => {
  const { origin, calls } = await startQuotingServer(t)
  const system = await startAccessHarness(t, {
    ...atProviders(origin),
    OTEL_EXPORTER_OTLP_ENDPOINT: origin,
    OTEL_EXPORTER_OTLP_HEADERS: 'x-key=cred.collector.key',
    OTEL_BSP_SCHEDULE_DELAY: '100',
  })
  const client = createClient(t, system.baseUrl)
  await requestAllProviders(client)
  for (const secret of ['cred.stripe.key', 'cred.net.key', 'cred.collector.key'])
    t.ok(
      calls.some(({ quoted }) => quoted.includes(secret)),
      `${secret} was quoted`,
    )
  t.ok(
    calls.some(({ path }) => path.includes('oauth2')),
    'PayPal received a token request',
  )
  await sendNonsense(client)
  await breakIdentity(system, client)
  await system.kill('embedded-event-store')
  const lost = await client.send(ada, 'POST', '/addresses', { body: addressBody('ada') })
  t.equal(lost.status, 503)
  await system.start('embedded-event-store')
  const has = (app: 'api' | 'worker', text: string) => system.written().get(app)?.includes(text)
  await waitFor(() => has('worker', 'traces are not sent'), { what: 'a line about the collector' })
  await waitFor(() => has('worker', 'webhook attempt failed'), { what: 'a line about a webhook', timeoutMs: 20_000 })
  for (const text of ['request failed', 'request rejected', 'traces are not sent', '"requestId"'])
    t.ok(has('api', text), `the api logs "${text}"`)
  t.same(leaksInLogs(system), [])
  for (const [app, written] of system.written()) t.notMatch(written, /4242[ -]?4242/, `${app} writes no card number`)
  t.same(client.responses.flatMap(leaksIn), [])
})

async function requestAllProviders({ send }: Client): Promise<void> {
  for (const provider_id of ['stripe', 'paypal', 'authorize-net', 'sandbox'])
    for (let n = 0; n < 3; n++) {
      const headers = { 'idempotency-key': `cred.idempotency.${provider_id}.${n}` }
      const body = { ...paymentBody('ada', emailOf.ada), provider_id }
      await send(ada, 'POST', '/payments/intents', { headers, body })
    }
  await send(ada, 'POST', '/payment-methods/setup-intent', { body: { provider_id: 'stripe' } })
  const method = { provider_id: 'stripe', payment_method_token: 'cred.method.token', type: 'card' }
  await send(ada, 'POST', '/payment-methods', { body: method })
}

async function sendNonsense({ send }: Client): Promise<void> {
  const json = { 'content-type': 'application/json' }
  await send(g1, 'POST', '/payments/intents', {
    headers: json,
    body: `{"guest_data": "cred.broken.json, ${cardNumber}`,
  })
  await send(ada, 'POST', '/payments/intents', { body: { ...paymentBody('ada', emailOf.ada), concept: cardNumber } })
  await send(ada, 'POST', '/addresses', {
    body: { ...addressBody('ada'), country: 'cred.country', email: ['cred.email'] },
  })
  await send(anonymous, 'GET', '/cred.path/%zz?token=cred.query.token&session_id=cred.query.session')
  await send(anonymous, 'GET', '/payments?token=cred.query.token&session_id=cred.query.session&limit=cred.limit')
  await send(ada, 'GET', '/payments?limit=cred.limit&status=cred.status', {
    headers: { 'x-read-after': 'cred.position' },
  })
  await send(ada, 'GET', `/payments/cred.id`, { headers: { traceparent: 'cred.trace', cookie: 'sid=cred.cookie' } })
  await send(anonymous, 'GET', '/payments', { headers: { authorization: 'Bearer cred.bearer' } })
  await send(anonymous, 'GET', '/payments', {
    headers: { authorization: 'Basic cred.basic', 'x-long': 'cred.'.repeat(9_000) },
  })
  for (const provider of ['stripe', 'paypal', 'authorize-net', 'sandbox']) {
    const signatures = {
      'stripe-signature': 't=1,v1=cred.signature',
      'sandbox-signature': 't=1,v1=cred.signature',
      'x-anet-signature': 'sha512=cred.signature',
      'paypal-transmission-sig': 'cred.signature',
    }
    await send(anonymous, 'POST', `/webhooks/${provider}?key=cred.receiver.key`, {
      headers: { ...json, ...signatures },
      body: '{"id": "cred.notification", "client_secret": "cred.client.secret"}',
    })
  }
}

async function breakIdentity({ identity }: AccessHarness, { send }: Client): Promise<void> {
  for (const fault of [
    'drop',
    { status: 500, body: 'cred.identity.answer' },
    { status: 200, body: '{cred.identity' },
  ] as const) {
    identity.breakWith(fault)
    await send(ada, 'GET', '/payments')
    await send(g1, 'GET', '/payments')
  }
  identity.breakWith(undefined)
}
