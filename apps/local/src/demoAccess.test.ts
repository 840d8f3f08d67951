// Who is offered the demo: its credentials are published, and its provider settles what nobody paid.
import { ConfigError } from '@paylog/config/environment'
import t from 'tap'
import { loadSettings } from './settings.ts'

const stripe = (key: string) => ({ STRIPE_SECRET_KEY: key, STRIPE_WEBHOOK_SECRET: 'whsec_made_up' })
const paypal = { PAYPAL_CLIENT_ID: 'id', PAYPAL_CLIENT_SECRET: 'secret', PAYPAL_WEBHOOK_ID: 'WH1' }
const authorizeNet = {
  AUTHORIZE_NET_API_LOGIN_ID: 'login',
  AUTHORIZE_NET_TRANSACTION_KEY: 'key',
  AUTHORIZE_NET_SIGNATURE_KEY: 'A'.repeat(128),
}
const identity = { AUTH_URL: 'https://auth.example.com' }

/** The variables that are refused, or whether the sandbox provider is on. */
function decided(env: Record<string, string>): readonly string[] | boolean {
  try {
    return loadSettings(env).SANDBOX_PROVIDER
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return error.problems.map((problem) => problem.split(' ', 1)[0] ?? '')
  }
}

t.test('the demo is offered to this machine without being asked for', async (t) => {
  for (const host of ['127.0.0.1', '127.8.0.1', '::1', 'localhost']) t.equal(decided({ HOST: host }), true, host)
  t.equal(decided({}), true)
})

t.test(
  'a host that other machines reach is refused without an identity backend, unless ALLOW_DEMO_CREDENTIALS is true',
  async (t) => {
    for (const HOST of [
      '0.0.0.0',
      '::',
      '192.168.1.7',
      'pay.example.com',
      '127.0.0.1.example.com',
      '::ffff:10.0.0.1',
    ]) {
      t.same(decided({ HOST }), ['AUTH_URL'], HOST)
      t.same(decided({ HOST, SANDBOX_PROVIDER: 'false' }), ['AUTH_URL'], HOST)
      t.equal(decided({ HOST, ALLOW_DEMO_CREDENTIALS: 'true' }), true, HOST)
      t.equal(decided({ HOST, ...identity }), false, `${HOST}: no sandbox unless it is asked for`)
      t.equal(decided({ HOST, ...identity, SANDBOX_PROVIDER: 'true' }), true, HOST)
    }
    t.throws(() => loadSettings({ HOST: '0.0.0.0' }), /ALLOW_DEMO_CREDENTIALS=true/)
  },
)

t.test('live credentials are refused beside the demo identity and the sandbox, whatever is allowed', async (t) => {
  const live = { ALLOW_DEMO_CREDENTIALS: 'true', SANDBOX_PROVIDER: 'false' }
  for (const credentials of [
    stripe('sk_live_made_up'),
    stripe('rk_live_made_up'),
    stripe('made_up'),
    paypal,
    authorizeNet,
  ]) {
    const name = Object.keys(credentials).join()
    t.same(decided({ ...credentials, ...live }), ['AUTH_URL'], name)
    t.same(decided({ ...credentials, ...identity }), ['SANDBOX_PROVIDER'], `${name}: it is on by default`)
    t.equal(decided({ ...credentials, ...identity, ...live }), false, name)
  }
  t.throws(() => loadSettings({ ...stripe('sk_live_made_up'), ...live }), { message: /^(?!.*made_up).*stripe/ })
})

t.test('credentials of a test environment are no live ones', async (t) => {
  const ofTests = [
    stripe('sk_test_made_up'),
    stripe('rk_test_made_up'),
    { ...stripe('made_up'), STRIPE_API_BASE: 'http://127.0.0.1:12111' },
    { ...paypal, PAYPAL_API_BASE: 'https://api-m.sandbox.paypal.com' },
    { ...authorizeNet, AUTHORIZE_NET_API_BASE: 'https://apitest.authorize.net' },
  ]
  for (const credentials of ofTests) t.equal(decided(credentials), true, Object.keys(credentials).join())
})
