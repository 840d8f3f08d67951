// PayPal's access tokens: caching, renewal, and failures.
import type { Fault } from '@paylog/testing/fakeServer'
import { waitFor } from '@paylog/testing/waitFor'
import t from 'tap'
import { createHttpClient } from '../http.ts'
import { connect, unlimitedPace } from '../testing/providerHarness.ts'
import { withTimeLimit } from '../timeLimit.ts'
import { createAccessTokens } from './client.ts'
import { capture, orderRequest, paypalHarness, withApproved } from './testing/paypalHarness.ts'

const tokenPath = /oauth2/
const create = (key: string) => ({ ...orderRequest, idempotency_key: key })

t.test('PayPal: an access token is requested with the credentials and used for the call', async (t) => {
  const { fake, paypal } = await paypalHarness(t)
  await paypal.createIntent(orderRequest)
  const [token, call] = fake.calls
  const credentials = Buffer.from(`${fake.clientId}:${fake.clientSecret}`).toString('base64')
  t.match(token, { method: 'POST', body: 'grant_type=client_credentials', authorization: `Basic ${credentials}` })
  t.match(call?.authorization, /^Bearer A21AA/)
})

t.test('PayPal: parallel and later calls share one access token', async (t) => {
  const { fake, paypal } = await paypalHarness(t)
  fake.tokenFaults.next({ kind: 'slow', ms: 50 })
  await Promise.all(Array.from({ length: 64 }, (_, index) => paypal.createIntent(create(`k${index}`))))
  await paypal.createIntent(create('later'))
  t.equal(fake.orders.size, 65)
  t.equal(fake.callsTo(tokenPath).length, 1)
})

t.test('PayPal: the access token is renewed before it expires', async (t) => {
  const { fake, paypal } = await paypalHarness(t, { tokenLifetimeSeconds: 0.4 })
  let sent = 0
  await waitFor(
    async () => {
      await paypal.createIntent(create('k1'))
      sent++
      return fake.callsTo(tokenPath).length === 2
    },
    { what: 'a second token' },
  )
  t.equal(fake.callsTo(/orders/).length, sent, 'no call was rejected')
})

t.test('PayPal: a call with a revoked access token is retried once with a new one', async (t) => {
  const { fake, paypal } = await paypalHarness(t)
  await paypal.createIntent(create('k1'))
  fake.expireTokens()
  await paypal.createIntent(create('k2'))
  t.equal(fake.orders.size, 2)
  t.equal(fake.callsTo(tokenPath).length, 2)
  t.equal(fake.callsTo(/orders/).length, 3)
})

t.test('PayPal: parallel calls with a revoked access token share the next one', async (t) => {
  const { fake, paypal } = await paypalHarness(t)
  await paypal.createIntent(create('k1'))
  fake.expireTokens()
  await Promise.all(Array.from({ length: 20 }, (_, index) => paypal.createIntent(create(`m${index}`))))
  t.equal(fake.orders.size, 21)
  t.equal(fake.callsTo(tokenPath).length, 2)
})

t.test('PayPal: rejected credentials make the call unavailable and unsent', async (t) => {
  const { fake } = await paypalHarness(t)
  const paypal = await connect(t, { ...fake.env, PAYPAL_CLIENT_SECRET: 'another' })
  const error = await paypal.createIntent(orderRequest).catch((error: unknown) => error)
  t.match(error, { name: 'ProviderError', kind: 'unavailable', code: 'credentials_refused' })
  t.notMatch(String(error), /another/)
  t.equal(fake.callsTo(/orders/).length, 0)
})

t.test('PayPal: without an access token the call is unavailable and unsent', async (t) => {
  const faults: readonly Fault[] = [
    { kind: 'drop', commits: true },
    { kind: 'hang', commits: true },
    { kind: 'status', status: 500, commits: false },
    { kind: 'garbage', commits: true },
  ]
  for (const fault of faults) {
    const { fake, paypal } = await paypalHarness(t, { timeoutMs: 500 })
    fake.tokenFaults.next(fault)
    const kind = 'unavailable'
    await t.rejects(paypal.createIntent(orderRequest), { name: 'ProviderError', kind }, JSON.stringify(fault))
    t.equal(fake.callsTo(/orders/).length, 0)
    await paypal.createIntent(orderRequest)
    t.equal(fake.orders.size, 1, 'the next call requests a token again')
  }
})

t.test('PayPal: a call waits for a token within its time, even after an earlier token request failed', async (t) => {
  const { fake } = await paypalHarness(t)
  const http = createHttpClient({ origin: fake.apiBase, pace: unlimitedPace, timeoutMs: 1000 })
  t.teardown(() => http.close())
  const tokens = createAccessTokens({ ...fake, http, timeoutMs: 1000 })
  fake.tokenFaults.next({ kind: 'hang', commits: false })
  const first = withTimeLimit(100, tokens.get)
  const others = Array.from({ length: 20 }, () => withTimeLimit(5000, tokens.get))
  const startedAt = performance.now()
  await t.rejects(first, { name: 'ProviderError', kind: 'unavailable' })
  t.ok(performance.now() - startedAt < 900)
  t.equal(new Set(await Promise.all(others)).size, 1, 'they share the next request')
  t.equal(fake.callsTo(tokenPath).length, 2)
})

t.test('PayPal: the token request and the call share one time limit', async (t) => {
  const { fake, paypal } = await paypalHarness(t, { timeoutMs: 3_000 })
  fake.tokenFaults.next({ kind: 'slow', ms: 2_000 })
  fake.faults.always({ kind: 'hang', commits: false })
  const startedAt = performance.now()
  await t.rejects(paypal.createIntent(orderRequest), { name: 'ProviderError', kind: 'unknown' })
  t.ok(performance.now() - startedAt < 4_500)
})

t.test('PayPal: an unknown outcome stays unknown when the retry gets no access token', async (t) => {
  // Used for half of its lifetime, which is shorter than the pause before the retry.
  const { fake, ref } = await withApproved(t, { tokenLifetimeSeconds: 0.38 })
  fake.faults.next({ kind: 'drop', commits: true })
  fake.tokenFaults.next(undefined)
  fake.tokenFaults.always({ kind: 'drop', commits: false })
  await t.rejects(capture(await connect(t, fake.env), ref, 'c1'), { name: 'ProviderError', kind: 'unknown' })
  t.equal(fake.charges.length, 1)
})
