// Provider rejections and throttling when a payment is opened.
import { createServer } from 'node:http'
import { paymentStream } from '@paylog/event-store/streamName'
import { matchList } from '@paylog/testing/assertions'
import { startFakeAuthorizeNet } from '@paylog/testing/authorize-net/fakeAuthorizeNet'
import { listen } from '@paylog/testing/fakeServer'
import { startFakeStripe } from '@paylog/testing/stripe/fakeStripe'
import { waitFor } from '@paylog/testing/waitFor'
import t from 'tap'
import { commandApiHarness } from '../testing/commandApiHarness.ts'
import { providerFromEnv } from '../testing/fakeProviders.ts'

const stripe = await startFakeStripe(t)
const authorizeNet = await startFakeAuthorizeNet(t)

/** The fake PayPal accepts every well-formed order, so this server rejects every order, and counts them. */
const paypal = { response: { status: 500, body: {} as object }, calls: 0 }
const paypalServer = createServer((request, response) => {
  request.resume()
  const isToken = request.url === '/v1/oauth2/token'
  if (!isToken) paypal.calls++
  const { status, body } = isToken
    ? { status: 200, body: { access_token: 'token', token_type: 'Bearer', expires_in: 32_400 } }
    : paypal.response
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
})
const paypalBase = await listen(t, paypalServer)

const { app, store } = await commandApiHarness(t, {
  providers: [
    await providerFromEnv(t, stripe.env),
    await providerFromEnv(t, {
      PAYPAL_CLIENT_ID: 'client',
      PAYPAL_CLIENT_SECRET: 'secret',
      PAYPAL_WEBHOOK_ID: 'WH1',
      PAYPAL_API_BASE: paypalBase,
    }),
    await providerFromEnv(t, authorizeNet.env),
  ],
})

/** Provider texts, which may contain data and must not reach callers. */
const rawText = 'Text of the provider about card 4242'
const stripeRejects = (status: number, error: { type: string; code?: string; param?: string }) => () =>
  stripe.failNext({ status, error: { message: rawText, ...error } as Parameters<typeof stripe.failNext>[0]['error'] })
const paypalRejects = (status: number, name: string, issue: string, field?: string) => () => {
  const details = [{ issue, description: rawText, ...(field === undefined ? {} : { field }) }]
  paypal.response = { status, body: { name, message: rawText, debug_id: 'f00d', details, links: [] } }
}
const authorizeNetRejects =
  (code: string, text = rawText) =>
  () =>
    authorizeNet.failNext(code, { text })

type Row = {
  readonly provider_id: string
  readonly reject: () => void
  readonly status: number
  readonly code: string
  /** The provider's code as recorded. */
  readonly failure_code: string
  readonly more?: object
}
const unprocessable = 'UNPROCESSABLE_ENTITY'
const rows: Readonly<Record<string, Row>> = {
  'a declined test card of Stripe': {
    provider_id: 'stripe',
    reject: () => undefined,
    status: 402,
    code: 'payment_declined',
    failure_code: 'insufficient_funds',
    more: { payment_method_id: 'pm_card_chargeDeclined' },
  },
  'a request that Stripe rejects': {
    provider_id: 'stripe',
    reject: stripeRejects(400, { type: 'invalid_request_error', code: 'parameter_unknown', param: 'metadata' }),
    status: 422,
    code: 'provider_rejected',
    failure_code: 'parameter_unknown',
  },
  'a currency that this Stripe account does not accept': {
    provider_id: 'stripe',
    reject: stripeRejects(400, { type: 'invalid_request_error', param: 'currency' }),
    status: 422,
    code: 'currency_not_supported',
    failure_code: 'invalid_request_error',
  },
  'a payment that PayPal declines': {
    provider_id: 'paypal',
    reject: paypalRejects(422, unprocessable, 'PAYEE_BLOCKED_TRANSACTION'),
    status: 402,
    code: 'payment_declined',
    failure_code: 'payee_blocked_transaction',
  },
  'a request that PayPal rejects': {
    provider_id: 'paypal',
    reject: paypalRejects(400, 'INVALID_REQUEST', 'INVALID_PARAMETER_SYNTAX', '/purchase_units'),
    status: 422,
    code: 'provider_rejected',
    failure_code: 'invalid_parameter_syntax',
  },
  'a currency that this PayPal account does not accept': {
    provider_id: 'paypal',
    reject: paypalRejects(422, unprocessable, 'CURRENCY_NOT_SUPPORTED'),
    status: 422,
    code: 'currency_not_supported',
    failure_code: 'currency_not_supported',
  },
  'a payment that Authorize.Net declines': {
    provider_id: 'authorize-net',
    reject: authorizeNetRejects('E00027'),
    status: 402,
    code: 'payment_declined',
    failure_code: 'E00027',
  },
  'a request that Authorize.Net rejects': {
    provider_id: 'authorize-net',
    reject: authorizeNetRejects('E00013'),
    status: 422,
    code: 'provider_rejected',
    failure_code: 'E00013',
  },
  'a currency that this Authorize.Net account does not accept': {
    provider_id: 'authorize-net',
    reject: authorizeNetRejects('E00027', 'The currency is not supported by this merchant.'),
    status: 422,
    code: 'currency_not_supported',
    failure_code: 'E00027',
  },
}

let keys = 0
const post = (row: Row, headers: Record<string, string> = {}) =>
  app.inject({
    method: 'POST',
    url: '/payments/intents',
    headers,
    payload: { total_cents: 2599, currency: 'USD', provider_id: row.provider_id, ...row.more },
  })
const calls = () => stripe.calls.length + paypal.calls + authorizeNet.calls.length

for (const [name, row] of Object.entries(rows)) {
  t.test(`${name} is reported with its code and payment id, recorded, and replayed [10.2-rejected]`, async (t) => {
    const headers = { 'idempotency-key': `rejected-${keys++}` }
    const before = calls()
    row.reject()
    const first = await post(row, headers)
    t.equal(first.statusCode, row.status)
    const { error } = first.json()
    t.match(error, { code: row.code, message: String, details: { payment_id: String } })
    t.same(Object.keys(error.details), ['payment_id'])
    t.notMatch(first.body, /card 4242|Text of/)
    t.match(first.headers['x-event-position'], /^\d+$/)
    const events = await store.readStream(paymentStream(error.details.payment_id))
    matchList(t, events, [
      { type: 'PaymentInitiated' },
      { type: 'PaymentAttemptFailed', data: { refusal: row.code, failure_code: row.failure_code } },
    ])
    t.notMatch(JSON.stringify(events.map(({ data }) => data)), /Text of/)
    t.equal(calls(), before + 1, 'a definite response causes no retry')
    const again = await post(row, headers)
    t.equal(again.statusCode, row.status)
    t.equal(again.headers['idempotent-replayed'], 'true')
    const { request_id: _first, ...firstError } = error
    const { request_id: _again, ...againError } = again.json().error
    t.same(againError, firstError)
    t.equal(calls(), before + 1)
  })
}

/** Throttles every call while `isBusy`. */
const throttles: Readonly<Record<string, (isBusy: boolean) => void>> = {
  stripe: (isBusy) => stripe.rateLimit.set(isBusy ? { perSecond: 0 } : null),
  paypal: (isBusy) => {
    if (isBusy) paypalRejects(429, 'RATE_LIMIT_REACHED', 'RATE_LIMIT_REACHED')()
    else paypal.response = { status: 201, body: { id: `ORDER${keys}`, links: [] } }
  },
  'authorize-net': (isBusy) =>
    authorizeNet.faults.always(isBusy ? { kind: 'status', status: 429, commits: false } : undefined),
}
const order = (provider_id: string) => ({
  method: 'POST' as const,
  url: '/payments/intents',
  headers: { 'idempotency-key': `throttled-${keys++}` },
  payload: { total_cents: 2599, currency: 'USD', provider_id },
})
const typesOf = async (id: string) => (await store.readStream(paymentStream(id))).map(({ type }) => type)

t.test('a payment is created when the provider throttles its call only for a while [10.2-throttled]', async (t) => {
  for (const [provider_id, throttle] of Object.entries(throttles)) {
    const before = calls()
    throttle(true)
    const created = app.inject(order(provider_id))
    await waitFor(() => calls() > before, { what: 'the call that is throttled' })
    throttle(false)
    t.equal((await created).statusCode, 201, provider_id)
    t.same(await typesOf((await created).json().data.id), ['PaymentInitiated', 'ProviderIntentCreated'], provider_id)
  }
})

t.test(
  'a payment stays pending when the provider throttles all calls, and can be retried with the same key [10.2-throttled-out]',
  async (t) => {
    for (const [provider_id, throttle] of Object.entries(throttles)) {
      const request = order(provider_id)
      throttle(true)
      const first = await app.inject(request)
      t.equal(first.statusCode, 502, provider_id)
      const { code, details } = first.json().error
      t.equal(code, 'provider_unavailable')
      t.same(await typesOf(details.payment_id), ['PaymentInitiated', 'ProviderCallThrottled'])
      const second = await app.inject(request)
      t.match([second.statusCode, second.json().error.details], [502, details], 'the same payment again')
      throttle(false)
      const third = await app.inject(request)
      t.match([third.statusCode, third.json().data], [201, { id: details.payment_id, status: 'pending' }])
      t.same(await typesOf(details.payment_id), ['PaymentInitiated', 'ProviderCallThrottled', 'ProviderIntentCreated'])
    }
  },
)

t.test("Stripe gets the payment id and none of the client's metadata [10.2-metadata]", async (t) => {
  const payload = {
    total_cents: 2599,
    currency: 'USD',
    provider_id: 'stripe',
    concept: 'Membership',
    metadata: { order: 'order-of-the-client' },
    guest_data: { email: 'guest@example.com', name: 'Sample Guest', phone: '+1 555 0100' },
  }
  const response = await app.inject({ method: 'POST', url: '/payments/intents', payload })
  const { id } = response.json().data
  const call = stripe.calls.at(-1)
  t.equal(call?.key, id)
  t.same(
    Object.keys(call?.params ?? {}).filter((name) => name.startsWith('metadata')),
    ['metadata[payment_id]'],
  )
  t.equal(call?.params['metadata[payment_id]'], id)
  t.notMatch(JSON.stringify(call), /order-of-the-client|guest@|Sample Guest|555 0100/)
})
