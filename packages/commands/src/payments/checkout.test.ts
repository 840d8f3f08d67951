import { paymentStream } from '@paylog/event-store/streamName'
import { createSandbox } from '@paylog/providers/sandbox/sandbox'
import { startEventStore } from '@paylog/testing/eventStore'
import t from 'tap'
import { ada, assertInvalid, commandApiHarness, freshKey } from '../testing/commandApiHarness.ts'
import { paymentChangesHarness } from '../testing/paymentChangesHarness.ts'

const { send, created, recordsNothing, store, time } = await paymentChangesHarness(t)

const body = { total_cents: 2599, currency: 'EUR' }
const post = (more: object, headers: Readonly<Record<string, string>> = ada) =>
  send<Record<string, unknown>>('POST', '/payments/intents', headers, { ...body, ...more })

t.test('the checkout fields are recorded, and sent to the provider', async (t) => {
  const checkout = {
    capture_method: 'manual',
    return_url: 'https://shop.example.com/thanks?order=7#top',
    cancel_url: 'http://localhost:3000/cart',
    statement_descriptor: 'SAMPLE SHOP',
  }
  const { status, data } = await post(checkout)
  t.equal(status, 201)
  t.match(data, {
    capture_method: 'manual',
    redirect_url: /^https:\/\/pay\.example\.com\/pi_/,
    amount_received_cents: 0,
    amount_refunded_cents: 0,
    amount_capturable_cents: 0,
    dispute_status: null,
  })
  t.match(created.at(-1), checkout)
  const [initiated] = await store.readStream(paymentStream(String(data.id)))
  t.match(initiated, { type: 'PaymentInitiated', data: checkout })
})

t.test('without checkout fields the capture is automatic, and the provider gets no URLs', async (t) => {
  const { data } = await post({})
  t.equal(data.capture_method, 'automatic')
  const none = { return_url: null, cancel_url: null, statement_descriptor: null }
  t.match(created.at(-1), { capture_method: 'automatic', ...none })
})

t.test('a URL must be https, or http on loopback', async (t) => {
  for (const url of ['http://127.0.0.1:8080/', 'http://[::1]/x', 'http://localhost', 'https://example.com:8443/a%20b'])
    t.equal((await post({ return_url: url, cancel_url: url })).status, 201, url)
  for (const url of [
    ...['http://example.com/', 'ftp://example.com/', 'javascript:alert(1)', 'example.com', '/thanks', '', 5, null],
    ...['https://', 'https://user:password@example.com/', 'https://user@example.com/', 'https://a b.example.com/'],
    ...[
      'https:\\\\example.com',
      'http://127.0.0.1.example.com/',
      'http://localhost.example.com/',
      ' https://example.com/',
    ],
    `https://example.com/${'x'.repeat(2_000)}`,
  ])
    for (const field of ['return_url', 'cancel_url'])
      assertInvalid(t, await recordsNothing(t, () => post({ [field]: url })), `${field} ${url}`, [field])
})

t.test('a statement descriptor has 5 to 22 characters, and none that Stripe rejects', async (t) => {
  for (const text of ['ABCDE', 'x'.repeat(22), 'Café & Co. #1'])
    t.equal((await post({ statement_descriptor: text })).status, 201, text)
  for (const text of [
    'ABCD',
    'x'.repeat(23),
    '',
    5,
    'line\nbreak',
    ...[...'<>\\\'"*'].map((each) => `Shop ${each} Co`),
  ])
    assertInvalid(t, await recordsNothing(t, () => post({ statement_descriptor: text })), String(text), [
      'statement_descriptor',
    ])
})

t.test('a repeated request with the same key keeps the first expires_at, one day after the creation', async (t) => {
  const headers = { ...ada, ...freshKey() }
  const now = Date.now()
  time.now = () => new Date(now)
  const first = await post({}, headers)
  t.equal(first.data.expires_at, new Date(now + 86_400_000).toISOString())
  time.now = () => new Date(now + 60_000)
  const again = await post({}, headers)
  t.same(again.data, first.data)
  t.equal(again.headers['idempotent-replayed'], 'true')
  time.now = () => new Date()
})

t.test('with PAYMENT_EXPIRES_AFTER 0 a payment has no expires_at', async (t) => {
  const { send } = await commandApiHarness(t, { payments: { expiresAfterMs: 0 } })
  const { data } = await send<{ expires_at: unknown }>('POST', '/payments/intents', ada, body)
  t.equal(data.expires_at, null)
})

t.test('with RETURN_URL_ORIGINS a URL must be of one of them', async (t) => {
  const { send, recordsNothing } = await commandApiHarness(t, {
    payments: { returnUrlOrigins: ['https://shop.example.com', 'http://localhost:3000'] },
  })
  const postTo = (return_url: string) => send('POST', '/payments/intents', ada, { ...body, return_url })
  for (const url of ['https://shop.example.com/a', 'https://SHOP.EXAMPLE.COM:443/b', 'http://localhost:3000/'])
    t.equal((await postTo(url)).status, 201, url)
  for (const url of [
    'https://example.com/',
    'https://shop.example.com:8443/',
    'http://localhost/',
    'https://shop.example.com.evil.example/',
  ])
    assertInvalid(t, await recordsNothing(t, () => postTo(url)), url, ['return_url'])
})

t.test('a repeated request is replayed, also when its return_url is no longer allowed', async (t) => {
  const log = await startEventStore(t)
  const headers = { ...ada, ...freshKey() }
  const sent = { ...body, return_url: 'https://example.com/' }
  const [before, after] = [
    await commandApiHarness(t, { log }),
    await commandApiHarness(t, { log, payments: { returnUrlOrigins: ['https://shop.example.com'] } }),
  ]
  const first = await before.send('POST', '/payments/intents', headers, sent)
  const again = await after.send('POST', '/payments/intents', headers, sent)
  t.same([again.status, again.text], [201, first.text])
  t.equal(again.headers['idempotent-replayed'], 'true')
})

t.test('a manual capture at a provider that cannot authorize first is 422, and nothing is recorded', async (t) => {
  const sandbox = { ...createSandbox({ webhookSecrets: ['secret'] }), captureAuthorized: null }
  const { send, recordsNothing } = await commandApiHarness(t, { providers: [sandbox] })
  const manual = { ...body, capture_method: 'manual' }
  const rejected = await recordsNothing(t, () => send('POST', '/payments/intents', ada, manual))
  t.match(rejected, { status: 422, error: { code: 'capture_method_not_supported', details: { enabled: [] } } })
  assertInvalid(t, await post({ capture_method: 'sometimes' }), 'another word', ['capture_method'])
})
