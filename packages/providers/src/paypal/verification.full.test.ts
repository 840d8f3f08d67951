// Verifying PayPal's notifications.
import type { FakePaypal } from '@paylog/testing/paypal/fakePaypal'
import { freePort } from '@paylog/testing/processes'
import { waitFor } from '@paylog/testing/waitFor'
import t from 'tap'
import { type Provider, ProviderError } from '../provider.ts'
import { connect } from '../testing/providerHarness.ts'
import { orderRequest, paypalHarness } from './testing/paypalHarness.ts'

type Signed = ReturnType<FakePaypal['signed']>

const now = new Date()
const verify = (paypal: Provider, { headers, body }: { headers: Record<string, unknown>; body: string | Buffer }) =>
  paypal.verifyNotification({ headers: { ...(headers as Signed['headers']) }, body: Buffer.from(body), now })
const invalidSignature = { name: 'DomainError', code: 'invalid_signature' }
const invalidRequest = { name: 'DomainError', code: 'invalid_request' }
const postbacks = (fake: FakePaypal) => fake.callsTo(/verify-webhook-signature/)

async function start(t: Parameters<typeof paypalHarness>[0], options: Parameters<typeof paypalHarness>[1] = {}) {
  const { fake, paypal } = await paypalHarness(t, options)
  const { provider_intent_id } = await paypal.createIntent({ ...orderRequest, description: 'Zwei Plätze – 2 × 10 €' })
  const event = fake.approve(provider_intent_id)
  return { fake, paypal, event, signed: fake.signed(event) }
}

t.test('PayPal: a signed notification is verified with its bytes as received [6.1-wallet-signature]', async (t) => {
  const { fake, paypal, signed } = await start(t)
  await verify(paypal, signed)
  const [postback] = postbacks(fake)
  t.match(postback, { method: 'POST', path: '/v1/notifications/verify-webhook-signature' })
  t.ok(postback?.body.endsWith(`,"webhook_event":${signed.body}}`))
  const { webhook_event: _event, ...rest } = JSON.parse(postback?.body ?? '')
  t.same(rest, {
    auth_algo: 'SHA256withRSA',
    cert_url: signed.headers['paypal-cert-url'],
    transmission_id: signed.headers['paypal-transmission-id'],
    transmission_sig: signed.headers['paypal-transmission-sig'],
    transmission_time: signed.headers['paypal-transmission-time'],
    webhook_id: fake.webhookIds[0],
  })
})

t.test('PayPal: a signed notification of any shape is accepted', async (t) => {
  const { fake, paypal } = await start(t)
  const object = { id: 'O1', amount: 1999, currency: 'eur', status: 'succeeded', customer: null }
  const body = JSON.stringify({ id: 'evt_1', type: 'payment_intent.succeeded', created: 1, data: { object } })
  const signed = fake.signed({ body })
  await verify(paypal, signed)
  await t.rejects(verify(paypal, { ...signed, body: body.replace('1999', '2000') }), invalidSignature)
})

t.test('PayPal: a body that differs in any byte is invalid_signature', async (t) => {
  const { paypal, signed } = await start(t)
  const other = JSON.stringify(JSON.parse(signed.body))
  t.not(other, signed.body, 're-serialised text differs')
  t.same(JSON.parse(other), JSON.parse(signed.body), 'same JSON')
  for (const body of [other, signed.body.replace('{', '{ '), signed.body.replace('19.99', '0.01'), '{}'])
    await t.rejects(verify(paypal, { ...signed, body }), invalidSignature)
})

t.test('PayPal: another signature, id, time, algorithm or certificate is invalid_signature', async (t) => {
  const { fake, paypal, event, signed } = await start(t)
  const forged = Buffer.from('x'.repeat(256)).toString('base64')
  const changes: readonly Record<string, string>[] = [
    { 'paypal-transmission-sig': forged },
    { 'paypal-transmission-sig': 'abc' },
    { 'paypal-transmission-id': 'a0a0a0a0-0000-11f0-8000-000000000000' },
    // PayPal rejects this id with a validation error.
    { 'paypal-transmission-id': '12345' },
    { 'paypal-transmission-time': '2026-09-01T10:00:00Z' },
    { 'paypal-auth-algo': 'SHA1withRSA' },
    { 'paypal-cert-url': 'https://api.paypal.com/v1/notifications/certs/CERT-another' },
  ]
  for (const change of changes)
    await t.rejects(verify(paypal, { ...signed, headers: { ...signed.headers, ...change } }), invalidSignature)
  await t.rejects(verify(paypal, fake.signed(event, 'ANOTHERAPPSWEBHOOK')), invalidSignature)
})

t.test('PayPal: invalid signature headers are rejected without a call', async (t) => {
  const { fake, paypal, signed } = await start(t)
  for (const name of Object.keys(signed.headers).filter((header) => header.startsWith('paypal-'))) {
    const value = String(signed.headers[name as keyof Signed['headers']])
    for (const wrong of [
      undefined,
      '',
      [value, value],
      `${value}, ${value}`,
      `${value},${value}`,
      `${value} `,
      'x'.repeat(501),
    ])
      await t.rejects(
        verify(paypal, { ...signed, headers: { ...signed.headers, [name]: wrong } }),
        invalidSignature,
        `${name}: ${wrong}`,
      )
  }
  t.equal(postbacks(fake).length, 0)
})

t.test('PayPal: a certificate URL outside PayPal is rejected without a call', async (t) => {
  const { fake, paypal, signed } = await start(t)
  const foreign = [
    'http://api.paypal.com/cert',
    'https://paypal.com.example.com/cert',
    'https://api.paypal.com.example.com/cert',
    'https://example.com/paypal.com',
    'https://example.com#.paypal.com',
    'https://notpaypal.com/cert',
    'https://example.com\\@api.paypal.com/cert',
    'https://api.paypal.com@example.com/cert',
    'https://user@api.paypal.com/cert',
    'https://api.paypal.com:8443/cert',
    'https://127.0.0.1/cert',
    'api.paypal.com/cert',
    'file:///etc/paypal.com',
  ]
  for (const url of foreign)
    await t.rejects(
      verify(paypal, { ...signed, headers: { ...signed.headers, 'paypal-cert-url': url } }),
      invalidSignature,
      url,
    )
  t.equal(postbacks(fake).length, 0)
})

t.test(
  'PayPal: a body that could inject fields into the verification request is rejected without a call',
  async (t) => {
    const { fake, paypal, signed } = await start(t)
    const bodies = [
      '',
      'nonsense',
      '[]',
      'null',
      '"text"',
      '{}{}',
      '{},"webhook_id":"MINE"',
      `${signed.body},"transmission_sig":"x"`,
      `\ufeff${signed.body}`,
      Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]),
    ]
    for (const body of bodies) await t.rejects(verify(paypal, { ...signed, body }), invalidRequest, String(body))
    t.equal(postbacks(fake).length, 0)
  },
)

t.test('PayPal: a notification signed for any of our webhook ids is accepted', async (t) => {
  const { fake, paypal, event } = await start(t, { webhookIds: ['OLDWEBHOOK', 'NEWWEBHOOK'] })
  await verify(paypal, fake.signed(event, 'OLDWEBHOOK'))
  await verify(paypal, fake.signed(event, 'NEWWEBHOOK'))
  await t.rejects(verify(paypal, fake.signed(event, 'OTHERWEBHOOK')), invalidSignature)
  const notFound = { kind: 'status', status: 404, commits: false } as const
  fake.verificationFaults.next(notFound)
  await t.rejects(
    verify(paypal, fake.signed(event, 'OTHERWEBHOOK')),
    { name: 'ProviderError' },
    'the other webhook id has no result',
  )
})

t.test('PayPal: a failed verification call is an error, so that PayPal sends the notification again', async (t) => {
  const providerError = { name: 'ProviderError' }
  const { fake, paypal, signed } = await start(t, { timeoutMs: 500 })
  for (const status of [500, 502, 429, 403, 404, 400, 204])
    await t.test(`PayPal: a verification call with the response status ${status} is an error`, async (t) => {
      fake.verificationFaults.always({ kind: 'status', status, commits: false })
      await t.rejects(verify(paypal, signed), providerError)
    })
  for (const kind of ['drop', 'hang', 'garbage'] as const)
    await t.test(`PayPal: a verification call with the fault ${kind} is an error`, async (t) => {
      fake.verificationFaults.always({ kind, commits: true })
      await t.rejects(verify(paypal, signed), providerError)
    })
  fake.verificationFaults.always(undefined)
  await verify(paypal, signed)
  const unreachable = await connect(t, { ...fake.env, PAYPAL_API_BASE: `http://127.0.0.1:${await freePort()}` })
  await t.rejects(verify(unreachable, signed), { ...providerError, kind: 'unavailable' })
})

t.test('PayPal: a verification call is not retried after a lost response', async (t) => {
  const { fake, paypal, signed } = await start(t)
  fake.verificationFaults.next({ kind: 'drop', commits: true })
  await t.rejects(verify(paypal, signed), { name: 'ProviderError', kind: 'unknown' })
  t.equal(postbacks(fake).length, 1)
  fake.expireTokens()
  await verify(paypal, signed)
})

t.test('PayPal: parallel verifications are limited, end after five seconds and do not delay orders', async (t) => {
  const { fake, paypal, signed } = await start(t, { webhookIds: ['OLDWEBHOOK', 'NEWWEBHOOK'], timeoutMs: 60_000 })
  fake.verificationFaults.always({ kind: 'hang', commits: false })
  const startedAt = performance.now()
  const errors: unknown[] = []
  const posts = Array.from({ length: 200 }, () => verify(paypal, signed).catch((error) => errors.push(error)))
  const isBusy = (error: unknown) => error instanceof ProviderError && error.code === 'verification_busy'
  await waitFor(() => postbacks(fake).length === 16, { what: 'the verification calls that are allowed' })
  await paypal.createIntent({ ...orderRequest, idempotency_key: 'while-verifying' })
  t.equal(fake.orders.size, 2)
  const orderTokens = fake.callsTo(/orders/).map(({ authorization }) => authorization)
  for (const { authorization } of postbacks(fake))
    t.notOk(orderTokens.includes(authorization), 'verification has its own token')
  t.equal(errors.length, 72, 'the others are still waiting')
  t.ok(errors.every(isBusy))
  await Promise.all(posts)
  t.equal(errors.filter(isBusy).length, 72)
  t.equal(errors.length, 200, 'all calls end')
  t.ok(performance.now() - startedAt < 15_000, 'although the time limit of other calls is longer')
  const isLost = (error: unknown) =>
    error instanceof ProviderError && error.kind === 'unknown' && error.code === 'timeout'
  // A verification makes one call for each webhook id.
  t.equal(errors.filter(isLost).length, 16 / 2, 'the outcomes of those that were sent are unknown')
  fake.verificationFaults.always(undefined)
  await verify(paypal, fake.signed({ body: signed.body }, 'NEWWEBHOOK'))
})
