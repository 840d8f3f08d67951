// How Stripe's errors and lost responses are classified and retried. Nothing is charged twice.
import { createServer } from 'node:http'
import { listen } from '@paylog/testing/fakeServer'
import { freePort } from '@paylog/testing/processes'
import { waitFor } from '@paylog/testing/waitFor'
import t from 'tap'
import { createIntentRequest, refOf, stripeAt, stripeHarness, stripeWithListener } from './testing/stripeHarness.ts'

const failure = (kind: string, code?: string) => ({ name: 'ProviderError', kind, ...(code ? { code } : {}) })

t.test('Stripe: a declined card is declined with the bank’s code', async (t) => {
  const { fake, stripe } = await stripeHarness(t)
  const declined = stripe.createIntent({ ...createIntentRequest, provider_method_id: 'pm_card_chargeDeclined' })
  await t.rejects(declined, { ...failure('declined', 'insufficient_funds'), message: 'The payment was declined' })
  t.equal(fake.calls.length, 1, 'not retried')
})

t.test('Stripe: an invalid request is rejected, without Stripe’s own message', async (t) => {
  const { fake, stripe } = await stripeHarness(t)
  const unknownMethod = stripe.createIntent({ ...createIntentRequest, provider_method_id: 'pm_secret_number' })
  await t.rejects(unknownMethod, failure('rejected', 'resource_missing'))
  const { message, cause } = (await unknownMethod.catch((error: Error) => error)) as Error
  t.notMatch(`${message} ${(cause as Error).message}`, 'pm_secret_number', 'Stripe’s text is not passed on')
  t.match((cause as Error).message, /400, resource_missing, to request req_/)
  t.equal(fake.calls.length, 1)
})

t.test('Stripe: an unsupported amount or currency is a currency error', async (t) => {
  const { stripe } = await stripeHarness(t)
  const tooSmall = { ...createIntentRequest, amount_cents: 49, idempotency_key: 'small' }
  await t.rejects(stripe.createIntent(tooSmall), failure('currency', 'amount_too_small'))
  const tooLarge = { ...createIntentRequest, amount_cents: 100_000_000, idempotency_key: 'large' }
  await t.rejects(stripe.createIntent(tooLarge), failure('currency', 'amount_too_large'))
  await t.rejects(
    stripe.createIntent({ ...createIntentRequest, currency: 'CUP', idempotency_key: 'cup' }),
    failure('currency'),
  )
})

t.test('Stripe: each status and error type maps to its kind and code', async (t) => {
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
    [503, { type: 'api_error' }, failure('unknown')],
    [200, { type: 'api_error' }, failure('unknown')],
  ] as const
  for (const [status, error, expected] of errors) {
    const stripe = await stripeWithListener(
      t,
      (_request, response) => void response.writeHead(status).end(JSON.stringify({ error })),
      { timeoutMs: 440 },
    )
    await t.rejects(stripe.createIntent(createIntentRequest), expected, `${status} ${JSON.stringify(error)}`)
  }
})

t.test('Stripe: an unreadable response is unknown, or unavailable with 401, 403 and 429', async (t) => {
  const { payment_id } = createIntentRequest
  const intent = JSON.stringify({ id: 'pi_1', amount: 2599, currency: 'eur', metadata: { payment_id } })
  const responses = [
    [200, '', 'unknown'],
    [200, '{"half":', 'unknown'],
    [200, 'null', 'unknown'],
    [200, '[]', 'unknown'],
    [200, '{"error":5}', 'unknown'],
    [200, '{"error":null}', 'unknown'],
    [302, intent, 'unknown'],
    [400, '<h1>Bad Request</h1>', 'unknown'],
    [402, '<h1>Payment Required</h1>', 'unknown'],
    [404, '{"error":"not_found"}', 'unknown'],
    [500, intent, 'unknown'],
    [502, '<h1>Bad Gateway</h1>', 'unknown'],
    [401, '<h1>Unauthorized</h1>', 'unavailable'],
    [403, '<h1>Forbidden</h1>', 'unavailable'],
    [429, '<h1>Too Many Requests</h1>', 'unavailable'],
  ] as const
  for (const [status, body, kind] of responses) {
    const stripe = await stripeWithListener(t, (_request, response) => void response.writeHead(status).end(body), {
      timeoutMs: 440,
    })
    await t.rejects(stripe.createIntent(createIntentRequest), failure(kind), `${status} ${body}`)
  }
})

t.test('Stripe: a rejected secret key makes the call unavailable', async (t) => {
  const { stripe } = await stripeHarness(t, { secretKey: 'sk_test_revoked' })
  await t.rejects(stripe.createIntent(createIntentRequest), failure('unavailable'))
})

t.test('Stripe: a failed connection makes the call unavailable', async (t) => {
  const unreachable = stripeAt(t, `http://127.0.0.1:${await freePort()}`)
  await t.rejects(unreachable.createIntent(createIntentRequest), failure('unavailable', 'econnrefused'))
  await t.rejects(stripeAt(t, 'http://stripe.invalid').createIntent(createIntentRequest), failure('unavailable'))
  const plain = await listen(t, createServer())
  await t.rejects(
    stripeAt(t, plain.replace('http:', 'https:')).createIntent(createIntentRequest),
    failure('unavailable'),
    'no TLS',
  )
})

for (const commits of [true, false]) {
  const when = commits ? 'after Stripe processed it' : 'before Stripe processed it'
  const faults = [
    { kind: 'drop', commits },
    { kind: 'garbage', commits },
    { kind: 'status', status: 502, commits },
  ] as const
  for (const fault of faults) {
    t.test(`Stripe: a call whose response is lost (${fault.kind}) ${when} is retried with the same key`, async (t) => {
      const { fake, stripe } = await stripeHarness(t)
      fake.faults.next(fault, fault)
      const { provider_intent_id } = await stripe.createIntent(createIntentRequest)
      t.same(
        fake.calls.map(({ key }) => key),
        [createIntentRequest.idempotency_key, createIntentRequest.idempotency_key, createIntentRequest.idempotency_key],
      )
      t.same(new Set(fake.calls.map(({ params }) => JSON.stringify(params))).size, 1)
      t.same(
        fake.intents().map(({ id }) => id),
        [provider_intent_id],
      )
    })
    t.test(`Stripe: a call whose response is lost (${fault.kind}) ${when} is unknown after two retries`, async (t) => {
      const { fake, stripe } = await stripeHarness(t)
      fake.faults.always(fault)
      await t.rejects(stripe.createIntent(createIntentRequest), failure('unknown'))
      t.equal(fake.calls.length, 3, `${when}`)
      t.equal(fake.intents().length, commits ? 1 : 0)
    })
  }
}

t.test('Stripe: a call without a response ends at the time limit', async (t) => {
  const { fake, stripe } = await stripeHarness(t, { timeoutMs: 600 })
  fake.faults.always({ kind: 'hang', commits: true })
  const startedAt = performance.now()
  await t.rejects(stripe.createIntent(createIntentRequest), failure('unknown', 'timeout'))
  const ms = performance.now() - startedAt
  t.ok(ms >= 550 && ms < 5_000, `${ms} ms`)
})

t.test('Stripe: all attempts of a call share one time limit', async (t) => {
  const { fake, stripe } = await stripeHarness(t, { timeoutMs: 2_000 })
  fake.faults.next({ kind: 'drop', commits: false })
  fake.faults.always({ kind: 'hang', commits: false })
  const startedAt = performance.now()
  await t.rejects(stripe.createIntent(createIntentRequest), failure('unknown'))
  const ms = performance.now() - startedAt
  t.equal(fake.calls.length, 2)
  t.ok(ms < 4_000, `${ms} ms`)
})

t.test('Stripe: all requests of a search share one time limit', async (t) => {
  const { fake, stripe } = await stripeHarness(t, { timeoutMs: 700 })
  const { payment_id } = createIntentRequest
  for (let count = 0; count < 120; count++) fake.openIntent({ amount: 100, currency: 'eur', metadata: { payment_id } })
  fake.readFaults.always({ kind: 'slow', ms: 450 })
  await t.rejects(stripe.findIntents(payment_id), failure('unknown', 'timeout'))
})

t.test('Stripe: a slow response is accepted within the time limit', async (t) => {
  const { fake, stripe } = await stripeHarness(t, { timeoutMs: 700 })
  fake.faults.next({ kind: 'slow', ms: 200 })
  await t.resolves(stripe.createIntent(createIntentRequest))
  fake.faults.next({ kind: 'slow', ms: 1200 })
  await t.rejects(
    stripe.createIntent({ ...createIntentRequest, idempotency_key: 'slow' }),
    failure('unknown', 'timeout'),
  )
  await waitFor(() => fake.intents().length === 2, { what: 'Stripe to process the slow call' })
})

t.test('Stripe: a second call with the key of a running one waits for its result', async (t) => {
  const { fake, stripe } = await stripeHarness(t)
  fake.faults.next({ kind: 'slow', ms: 300 })
  const first = stripe.createIntent(createIntentRequest)
  await waitFor(() => fake.calls.length === 1, { what: 'the first call' })
  const [one, other] = await Promise.all([first, stripe.createIntent(createIntentRequest)])
  t.same(one, other)
  t.ok(fake.calls.length > 2, 'the 409 was retried')
})

t.test('Stripe: a 500 that is stored under the key stays unknown, and the intent can be found', async (t) => {
  const { fake, stripe } = await stripeHarness(t)
  fake.failInside({ commits: true })
  await t.rejects(stripe.createIntent(createIntentRequest), failure('unknown', 'api_error'))
  await t.rejects(stripe.createIntent(createIntentRequest), failure('unknown', 'api_error'), 'replayed')
  t.equal(fake.calls.length, 6)
  t.equal((await stripe.findIntents(createIntentRequest.payment_id)).length, 1)
})

t.test('Stripe: a key reused with other parameters makes the outcome unknown', async (t) => {
  const { stripe } = await stripeHarness(t, { timeoutMs: 440 })
  await stripe.createIntent(createIntentRequest)
  const other = stripe.createIntent({ ...createIntentRequest, amount_cents: 9900 })
  await t.rejects(other, failure('unknown', 'idempotency_error'))
})

t.test('Stripe: a lost call stays unknown when its retry cannot connect', async (t) => {
  const { fake, stripe } = await stripeHarness(t)
  fake.faults.next({ kind: 'drop', commits: true })
  const call = stripe.createIntent(createIntentRequest)
  const outcome = t.rejects(call, failure('unknown', 'econnreset'))
  await waitFor(() => fake.calls.length === 1, { what: 'the first attempt' })
  fake.shut()
  await outcome
  t.equal(fake.calls.length, 1)
  await fake.open()
  await stripe.createIntent(createIntentRequest)
  t.equal(fake.intents().length, 1)
})

t.test('Stripe: reads are retried and given up like writes', async (t) => {
  const { fake, stripe } = await stripeHarness(t)
  const { provider_intent_id } = await stripe.createIntent(createIntentRequest)
  fake.readFaults.next({ kind: 'drop', commits: false }, { kind: 'status', status: 503, commits: false })
  t.match(await stripe.retrieveIntent(refOf(provider_intent_id)), { evidence: { status: 'pending' } })
  fake.readFaults.always({ kind: 'garbage', commits: false })
  await t.rejects(stripe.retrieveIntent(refOf(provider_intent_id)), failure('unknown'))
  await t.rejects(stripe.findIntents(createIntentRequest.payment_id), failure('unknown'))
})

t.test('Stripe: a closed adapter sends nothing more', async (t) => {
  const { fake, stripe } = await stripeHarness(t)
  fake.faults.always({ kind: 'hang', commits: false })
  const call = stripe.createIntent(createIntentRequest)
  const outcome = t.rejects(call, failure('unknown'))
  await waitFor(() => fake.calls.length === 1, { what: 'the call' })
  await stripe.close()
  await outcome
  await t.rejects(stripe.createIntent(createIntentRequest), failure('unavailable'))
  t.equal(fake.calls.length, 1)
})
