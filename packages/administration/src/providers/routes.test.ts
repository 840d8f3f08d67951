// The providers as administrators see them, and their check, with fakes of the providers.
import { createActivityRecorder } from '@paylog/commands/provider-activity/activity'
import {
  enabledProviders,
  knownProviders,
  type ProviderConfig,
  providerVariables,
} from '@paylog/commands/provider-calls/enabledProviders'
import { recordedActions } from '@paylog/commands/testing/recordedActions'
import { loadConfig } from '@paylog/runtime/config/environment'
import { startFakeAuthorizeNet } from '@paylog/testing/authorize-net/fakeAuthorizeNet'
import { startEventStore } from '@paylog/testing/eventStore'
import { startFakePaypal } from '@paylog/testing/paypal/fakePaypal'
import { startFakeStripe } from '@paylog/testing/stripe/fakeStripe'
import { testPool } from '@paylog/testing/testPool'
import t from 'tap'
import { Type } from 'typebox'
import { attentionHarness } from '../testing/attentionHarness.ts'
import { operatorHarness } from '../testing/operatorHarness.ts'

const [stripe, paypal, authorizeNet, eventStore] = await Promise.all([
  startFakeStripe(t),
  startFakePaypal(t),
  startFakeAuthorizeNet(t),
  startEventStore(t),
])
const settings = (env: Readonly<Record<string, string>>): ProviderConfig =>
  loadConfig(Type.Object(providerVariables), { PROVIDER_TIMEOUT_MS: '500', ...env })
const config = settings({
  ...stripe.env,
  ...paypal.env,
  PAYPAL_CLIENT_SECRET: 'another',
  SANDBOX_PROVIDER: 'true',
  SANDBOX_WEBHOOK_SECRET: 'secret',
})
const pool = testPool(t, eventStore.databaseUrl)
const recorder = createActivityRecorder({
  ...{ db: pool, now: () => new Date(), pauseMs: 10 },
  log: { warn: () => t.fail('recorded') },
})
t.teardown(() => recorder.close())
const openProviders = () => enabledProviders(config, recorder.called)
const { get, post, store } = await operatorHarness(t, { openProviders, providers: knownProviders(config) }, eventStore)
const list = async () => (await get('/admin/providers')).json().data
const check = async (id: string) => (await post(`/admin/providers/${id}/check`)).json()

const unknown = {
  ...{
    last_notification_at: null,
    last_notification_type: null,
    refused_signatures: 0,
    last_refused_signature_at: null,
  },
  ...{ credentials_accepted_at: null, credentials_refused_at: null, credentials_refusal: null, payments: 0 },
}

t.test('every provider of the build is listed, with the mode of its credentials', async (t) => {
  t.same(await list(), [
    { id: 'stripe', is_enabled: true, mode: 'test', ...unknown },
    { id: 'paypal', is_enabled: true, mode: 'test', ...unknown },
    { id: 'authorize-net', is_enabled: false, mode: null, ...unknown },
    { id: 'sandbox', is_enabled: true, mode: 'sandbox', ...unknown },
  ])
})

t.test('the mode is live with live credentials, as their form or the address of the API shows', async (t) => {
  const modesOf = (env: Readonly<Record<string, string>>) =>
    Object.fromEntries(knownProviders(settings(env)).flatMap(({ id, mode }) => (mode === null ? [] : [[id, mode]])))
  t.same(modesOf({ STRIPE_SECRET_KEY: 'rk_live_1' }), { stripe: 'live' })
  t.same(modesOf({ STRIPE_SECRET_KEY: 'sk_live_1', STRIPE_API_BASE: stripe.origin }), { stripe: 'live' })
  t.same(modesOf({ STRIPE_SECRET_KEY: 'sk_test_1' }), { stripe: 'test' })
  t.same(modesOf({ PAYPAL_CLIENT_ID: 'id' }), { paypal: 'live' })
  t.same(modesOf({ PAYPAL_CLIENT_ID: 'id', PAYPAL_API_BASE: 'https://api-m.sandbox.paypal.com' }), { paypal: 'test' })
  t.same(modesOf({ AUTHORIZE_NET_API_LOGIN_ID: 'id' }), { 'authorize-net': 'live' })
  t.same(modesOf(authorizeNet.env), { 'authorize-net': 'test' })
})

t.test('a check says whether the provider accepts the credentials, and is recorded', async (t) => {
  t.match(await check('stripe'), {
    success: true,
    data: { ok: true, checked_at: /Z$/, message: 'Stripe accepts the credentials' },
  })
  t.match((await check('paypal')).data, {
    ok: false,
    message: 'PayPal refuses the credentials: Client Authentication failed',
  })
  t.match((await check('sandbox')).data, { ok: true, message: 'The sandbox runs here and needs no credentials' })
  stripe.readFaults.next({ kind: 'hang', commits: false })
  t.match((await check('stripe')).data, { ok: null, message: /^Stripe did not say clearly whether/ })
  t.match(
    (await recordedActions(store)).map(({ data }) => [data.action, data.target]),
    ['stripe', 'paypal', 'sandbox', 'stripe'].map((id) => ['check_provider', { kind: 'provider', id }]),
  )
  await recorder.close()
  const [ofStripe, ofPaypal] = await list()
  t.match(ofStripe, { credentials_accepted_at: /Z$/, credentials_refused_at: null, credentials_refusal: null })
  t.match(ofPaypal, { credentials_refused_at: /Z$/, credentials_refusal: 'Client Authentication failed' })
  t.match((await get('/admin/attention')).json().data, [
    { code: 'provider_refused', message: 'PayPal refuses our credentials: Client Authentication failed' },
  ])
})

t.test('a provider that is not enabled is 422, an unknown one 404, and nothing is recorded of them', async (t) => {
  const before = (await recordedActions(store)).length
  t.match(await check('authorize-net'), {
    error: { code: 'provider_not_enabled', details: { enabled: ['stripe', 'paypal', 'sandbox'] } },
  })
  t.match(await check('unknown'), { error: { code: 'not_found' } })
  t.equal((await recordedActions(store)).length, before)
})

t.test('the payments of the last 24 hours are counted for each provider', async (t) => {
  const { pay, project } = attentionHarness(pool)
  for (const hours of [1, 2, 23, 25]) pay(hours * 3_600)
  pay(60, { provider_id: 'sandbox' })
  await project()
  const { get } = await operatorHarness(t, { providers: knownProviders(config) }, eventStore)
  const { data } = (await get('/admin/providers')).json()
  t.match(data, [{ payments: 3 }, { payments: 0 }, { payments: 0 }, { payments: 1 }])
})
