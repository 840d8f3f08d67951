// What Stripe's errors mean. See `adapterContract.full.test.ts` for lost and throttled requests.
import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import { createRequest, payment_id } from '../testing/requests.ts'
import { stripeHarness, stripeResponding, stripeWithListener } from './testing/stripeHarness.ts'

const failure = (kind: string, code?: string) => ({ name: 'ProviderError', kind, ...(code ? { code } : {}) })

t.test('Stripe: a declined card is declined with the bank’s code', async (t) => {
  const { fake, stripe } = await stripeHarness(t)
  const declined = stripe.createIntent({ ...createRequest, provider_method_id: 'pm_card_chargeDeclined' })
  await t.rejects(declined, { ...failure('declined', 'insufficient_funds'), message: 'The payment was declined' })
  t.equal(fake.calls.length, 1, 'not retried')
})

t.test('Stripe: an invalid request is rejected, without Stripe’s own message', async (t) => {
  const { fake, stripe } = await stripeHarness(t)
  const unknownMethod = stripe.createIntent({ ...createRequest, provider_method_id: 'pm_secret_number' })
  await t.rejects(unknownMethod, failure('rejected', 'resource_missing'))
  const { message, cause } = (await unknownMethod.catch((error: Error) => error)) as Error
  t.notMatch(`${message} ${(cause as Error).message}`, 'pm_secret_number', 'Stripe’s text is not passed on')
  t.match((cause as Error).message, /400, resource_missing, to request req_/)
  t.equal(fake.calls.length, 1)
})

t.test('Stripe: an unsupported amount or currency is a currency error', async (t) => {
  const { stripe } = await stripeHarness(t)
  const tooSmall = { ...createRequest, amount_cents: 49, idempotency_key: 'small' }
  await t.rejects(stripe.createIntent(tooSmall), failure('currency', 'amount_too_small'))
  const tooLarge = { ...createRequest, amount_cents: 100_000_000, idempotency_key: 'large' }
  await t.rejects(stripe.createIntent(tooLarge), failure('currency', 'amount_too_large'))
  await t.rejects(
    stripe.createIntent({ ...createRequest, currency: 'CUP', idempotency_key: 'cup' }),
    failure('currency'),
  )
})

t.test('Stripe: each status and error type maps to its kind and code', async (t) => {
  const { stripe, respond } = await stripeResponding(t)
  const errors = [
    [
      400,
      { type: 'invalid_request_error', code: 'parameter_unknown', param: 'x' },
      failure('rejected', 'parameter_unknown'),
    ],
    [400, { type: 'invalid_request_error', param: 'amount' }, failure('rejected', 'invalid_request_error')],
    [400, { type: 'invalid_request_error', param: 'currency' }, failure('currency', 'invalid_request_error')],
    [400, { type: 'invalid_request_error', code: 'Free text!' }, failure('rejected', 'invalid_request_error')],
    [400, { type: 'invalid_request_error', code: 'rate_limit' }, failure('unavailable', 'rate_limit')],
    [400, { type: 'idempotency_error' }, failure('unknown', 'idempotency_error')],
    [400, { type: 'card_error', code: 'incorrect_number' }, failure('declined', 'incorrect_number')],
    [400, { type: 'api_error' }, failure('unknown', 'api_error')],
    [401, { type: 'invalid_request_error' }, failure('unavailable', 'invalid_request_error')],
    [402, { type: 'card_error', code: 'card_declined' }, failure('declined', 'card_declined')],
    [402, { type: 'card_error', code: 'card_declined', decline_code: 'lost_card' }, failure('declined', 'lost_card')],
    [402, { type: 'invalid_request_error' }, failure('declined')],
    [403, { type: 'invalid_request_error', code: 'platform_account_required' }, failure('unavailable')],
    [404, { type: 'invalid_request_error', code: 'resource_missing' }, failure('rejected', 'resource_missing')],
    [409, { type: 'idempotency_error', code: 'idempotency_key_in_use' }, failure('unknown', 'idempotency_key_in_use')],
    [409, { type: 'invalid_request_error', code: 'lock_timeout' }, failure('unknown')],
    [424, { type: 'api_error' }, failure('unknown')],
    [429, { type: 'invalid_request_error', code: 'lock_timeout' }, failure('unavailable', 'lock_timeout')],
    [500, { type: 'api_error' }, failure('unknown', 'api_error')],
    [500, { type: 'invalid_request_error' }, failure('unknown')],
    [500, { type: 'api_error', code: 'rate_limit' }, failure('unavailable', 'rate_limit')],
    [503, { type: 'api_error' }, failure('unknown')],
    [200, { type: 'api_error' }, failure('unknown')],
  ] as const
  for (const [status, error, expected] of errors) {
    respond({ error }, status)
    await t.rejects(stripe.createIntent(createRequest), expected, `${status} ${JSON.stringify(error)}`)
  }
})

t.test('Stripe: an unreadable response is unknown, or unavailable with 401, 403 and 429', async (t) => {
  const { stripe, respond } = await stripeResponding(t)
  const intent = JSON.stringify({ id: 'pi_1', amount: 2599, currency: 'eur', metadata: { payment_id } })
  const responses = [
    [200, '', 'unknown'],
    [200, '{"half":', 'unknown'],
    [200, 'null', 'unknown'],
    [200, '[]', 'unknown'],
    [200, '5', 'unknown'],
    [200, '"text"', 'unknown'],
    [200, '{"error":5}', 'unknown'],
    [200, '{"error":null}', 'unknown'],
    [200, '{"error":"invalid_grant"}', 'unknown'],
    [302, intent, 'unknown'],
    [400, '<h1>Bad Request</h1>', 'unknown'],
    [402, '<h1>Payment Required</h1>', 'unknown'],
    [400, '{"error":{"type":"invalid_request_error","code":5}}', 'unknown'],
    [404, '{"error":"not_found"}', 'unknown'],
    [404, '{"error":[]}', 'unknown'],
    [500, intent, 'unknown'],
    [502, '<h1>Bad Gateway</h1>', 'unknown'],
    [401, '<h1>Unauthorized</h1>', 'unavailable'],
    [403, '<h1>Forbidden</h1>', 'unavailable'],
    [429, '<h1>Too Many Requests</h1>', 'unavailable'],
  ] as const
  for (const [status, body, kind] of responses) {
    respond(body, status)
    await t.rejects(stripe.createIntent(createRequest), failure(kind), `${status} ${body}`)
  }
})

t.test('Stripe: a call whose connection is reset is sent three times, by us and not by the package', async (t) => {
  const sent: (readonly unknown[])[] = []
  const stripe = await stripeWithListener(
    t,
    ({ headers, socket }) => {
      sent.push(['idempotency-key', 'stripe-version', 'x-stripe-client-telemetry'].map((name) => headers[name]))
      socket.resetAndDestroy()
    },
    { timeoutMs: 10_000 },
  )
  await t.rejects(stripe.createIntent(createRequest), failure('unknown', 'econnreset'))
  t.same(sent, Array(3).fill([payment_id, '2026-10-28.endive', undefined]))
})

t.test('Stripe: a notice in a response is not written to the standard error', async (t) => {
  const warnings: Error[] = []
  const warn = (warning: Error) => void warnings.push(warning)
  process.on('warning', warn)
  t.teardown(() => process.off('warning', warn))
  const stripe = await stripeWithListener(t, (_request, response) => {
    response.writeHead(404, { 'stripe-notice': 'Upgrade' }).end('{"error":{"type":"invalid_request_error"}}')
  })
  await t.rejects(stripe.createIntent(createRequest), failure('rejected'))
  await setImmediate()
  t.same(warnings, [])
})

t.test('Stripe: a 500 stored under the key stays unknown, and the intent is found [10.2-kept-errors]', async (t) => {
  const { fake, stripe } = await stripeHarness(t)
  fake.failInside({ commits: true })
  await t.rejects(stripe.createIntent(createRequest), failure('unknown', 'api_error'))
  await t.rejects(stripe.createIntent(createRequest), failure('unknown', 'api_error'), 'replayed')
  t.equal(fake.calls.length, 6)
  t.equal((await stripe.findIntents(payment_id)).length, 1)
})

t.test('Stripe: all requests of a search share one time limit', async (t) => {
  const { fake, stripe } = await stripeHarness(t, { timeoutMs: 700 })
  for (let count = 0; count < 120; count++) fake.openIntent({ amount: 100, currency: 'eur', metadata: { payment_id } })
  fake.readFaults.always({ kind: 'slow', ms: 450 })
  await t.rejects(stripe.findIntents(payment_id), failure('unknown', 'timeout'))
})
