import { createLog } from '@paylog/runtime/telemetry/log'
import { startFakeEndpoint } from '@paylog/testing/fakeEndpoint'
import { positionAt } from '@paylog/testing/positionAt'
import { Webhook } from 'standardwebhooks'
import t, { type Test } from 'tap'
import type { WebhookEndpoint } from '../../endpoints/endpoints.ts'
import { batchOf, notificationReceived } from '../../testing/paymentFixture.ts'
import { tcpEndpoint } from '../../testing/webhookPoster.ts'
import { createWorkerHarness, type WorkerHarness } from '../../testing/workerHarness.ts'
import type { ClaimedDelivery } from '../tables/claims.ts'

const secret = `whsec_${Buffer.alloc(24, 1).toString('base64')}`
const nextSecret = `whsec_${Buffer.alloc(32, 2).toString('base64')}`
const { signal } = new AbortController()

async function storedDelivery(harness: WorkerHarness) {
  const [configured] = harness.endpoints
  const [delivery] = await harness.claim('1')
  if (configured === undefined || delivery === undefined) throw new Error('no delivery is due')
  return { configured, delivery }
}

const send = async ({ sender }: WorkerHarness, configured: WebhookEndpoint, delivery: ClaimedDelivery) =>
  await sender.record(await sender.post(configured, delivery, signal))

/** An endpoint that records every byte, request by request. */
async function recordingEndpoint(t: Test, status = 200) {
  const requests: Buffer[] = []
  const host = await tcpEndpoint(t, (socket) => {
    let read = Buffer.alloc(0)
    socket.on('data', (chunk: Buffer) => {
      read = Buffer.concat([read, chunk])
      const start = read.indexOf('\r\n\r\n') + 4
      const length = /content-length: (\d+)/i.exec(read.toString('latin1'))?.[1]
      if (start < 4 || read.length < start + Number(length)) return
      requests.push(read)
      socket.end(`HTTP/1.1 ${status} Status\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`)
    })
  })
  return { url: `http://${host}/hook`, requests }
}

/** A request as a receiver parses it. */
function parsed(request: Buffer | undefined) {
  if (request === undefined) throw new Error('no request')
  const start = request.indexOf('\r\n\r\n')
  const [line = '', ...lines] = request.subarray(0, start).toString('latin1').split('\r\n')
  const headers = Object.fromEntries(
    lines.map((text) => {
      const [, name = '', value = ''] = /^([^:]+): (.*)$/.exec(text) ?? []
      return [name.toLowerCase(), value]
    }),
  )
  return { line, headers, body: request.subarray(start + 4) }
}

t.test('the stored body, the sent body and the signed body are the same bytes [6.2-post]', async (t) => {
  const endpoint = await recordingEndpoint(t)
  const env = { WEBHOOK_1_ENABLED: 'true', WEBHOOK_1_URL: endpoint.url, WEBHOOK_1_EVENT_MODE: 'raw' }
  const harness = await createWorkerHarness(t, 'postgres', { ...env, WEBHOOK_1_SECRET: `${nextSecret},${secret}` })
  await harness.dispatcher.start()
  const odd = '{ "id":"evt_1", "name":"J\u00f6rg \u20ac \ud83d\ude00 \\u00e9 <&>", "amount":1.50,"amount":2e2 }'
  await harness.dispatcher.handle({ events: [notificationReceived(1n, odd)], position: positionAt(1n, 0n) })
  const { configured, delivery } = await storedDelivery(harness)
  t.equal(await send(harness, configured, delivery), undefined)
  const { line, headers, body } = parsed(endpoint.requests[0])
  t.equal(line, 'POST /hook HTTP/1.1')
  t.match(headers, {
    'content-type': 'application/json',
    'content-length': String(body.length),
    'webhook-id': delivery.id,
    'webhook-sequence': '0',
    'user-agent': /^paylog/,
  })
  t.notOk('transfer-encoding' in headers || 'expect' in headers || 'accept-encoding' in headers)
  const { rows } = await harness.pool.query<{ body: string }>('select body from webhooks.all_deliveries')
  t.equal(body.toString('utf8'), rows[0]?.body)
  t.ok(body.includes(Buffer.from(odd)), "the provider's original text")
  for (const known of [secret, nextSecret])
    t.same(new Webhook(known).verify(body, headers), JSON.parse(body.toString()))
  t.equal(headers['webhook-signature']?.split(' ').length, 2)
  const otherSecret = `whsec_${Buffer.alloc(24, 9).toString('base64')}`
  t.throws(() => new Webhook(otherSecret).verify(body, headers), /No matching signature/)
})

t.test('each attempt has a new time and signature, and the same id and body', async (t) => {
  const endpoint = await recordingEndpoint(t, 500)
  let time = Date.now()
  const env = { WEBHOOK_1_ENABLED: 'true', WEBHOOK_1_URL: endpoint.url, WEBHOOK_1_SECRET: secret }
  const harness = await createWorkerHarness(t, 'postgres', env, { now: () => new Date(time) })
  await harness.dispatcher.start()
  await harness.dispatcher.handle(batchOf(1))
  const { configured, delivery } = await storedDelivery(harness)
  t.ok(await send(harness, configured, delivery), 'a retry is scheduled')
  time += 20_000
  await send(harness, configured, (await storedDelivery(harness)).delivery)
  const [first, second] = endpoint.requests.map(parsed)
  t.equal(first?.headers['webhook-id'], second?.headers['webhook-id'])
  t.same(first?.body, second?.body)
  t.equal(Number(second?.headers['webhook-timestamp']) - Number(first?.headers['webhook-timestamp']), 20)
  t.not(first?.headers['webhook-signature'], second?.headers['webhook-signature'])
  for (const request of [first, second]) t.ok(new Webhook(secret).verify(request?.body ?? '', request?.headers ?? {}))
})

t.test(
  'the URL and the signature are removed from the log and the stored response when an endpoint echoes its request',
  async (t) => {
    const token = 'tok-9f8e7d6c5b4a'
    const lines: string[] = []
    const echo = await startFakeEndpoint(t, (response, _, { url, headers }) => {
      response.writeHead(500).end(JSON.stringify({ url, headers, known: secret }))
    })
    const env = {
      WEBHOOK_1_ENABLED: 'true',
      WEBHOOK_1_URL: `${echo.url}/${token}?sig=abc123`,
      WEBHOOK_1_SECRET: secret,
    }
    const log = createLog({ app: 'test', level: 'trace' }, { write: (line) => lines.push(line) })
    const harness = await createWorkerHarness(t, 'postgres', env, { log })
    await harness.dispatcher.start()
    await harness.dispatcher.handle(batchOf(1))
    const { configured, delivery } = await storedDelivery(harness)
    await send(harness, configured, delivery)
    const signature = String(echo.received[0]?.headers['webhook-signature']).slice(3)
    const [recorded] = await harness.attempts(delivery.id)
    t.match(recorded, { http_status: 500, response_body: /content-type.*application\/json/ })
    for (const hidden of [token, 'abc123', secret, secret.slice(6), signature, echo.url]) {
      t.notOk(recorded?.response_body?.includes(hidden), `${hidden} in the record`)
      t.notOk(lines.join('').includes(hidden), `${hidden} in the log`)
    }
    t.match(lines.join(''), 'webhook attempt failed')
  },
)
