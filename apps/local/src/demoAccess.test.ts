// When the demo identity and the sandbox provider are available. The demo credentials are public, and the sandbox
// settles payments that nobody paid.
import { ConfigError } from '@paylog/runtime/config/environment'
import t from 'tap'
import { planServices } from './plan.ts'
import { loadSettings } from './settings.ts'

const stripe = (key: string) => ({ STRIPE_SECRET_KEY: key, STRIPE_WEBHOOK_SECRET: 'whsec_made_up' })
const paypal = { PAYPAL_CLIENT_ID: 'id', PAYPAL_CLIENT_SECRET: 'secret', PAYPAL_WEBHOOK_ID: 'WH1' }
const authorizeNet = {
  AUTHORIZE_NET_API_LOGIN_ID: 'login',
  AUTHORIZE_NET_TRANSACTION_KEY: 'key',
  AUTHORIZE_NET_SIGNATURE_KEY: 'A'.repeat(128),
}
const identity = { AUTH_URL: 'https://auth.example.com' }

/** The names of the rejected variables, or whether the sandbox provider is on. */
function loadSandboxSetting(env: Record<string, string>): readonly string[] | boolean {
  try {
    return loadSettings(env).SANDBOX_PROVIDER
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return error.problems.map((problem) => problem.split(' ', 1)[0] ?? '')
  }
}

t.test('on a loopback HOST the sandbox provider is on by default', async (t) => {
  for (const host of ['127.0.0.1', '127.8.0.1', '::1', 'localhost'])
    t.equal(loadSandboxSetting({ HOST: host }), true, host)
  t.equal(loadSandboxSetting({}), true)
})

t.test('a HOST that other machines can reach needs AUTH_URL or ALLOW_DEMO_CREDENTIALS=true', async (t) => {
  for (const HOST of ['0.0.0.0', '::', '192.168.1.7', 'pay.example.com', '127.0.0.1.example.com', '::ffff:10.0.0.1']) {
    t.same(loadSandboxSetting({ HOST }), ['AUTH_URL'], HOST)
    t.same(loadSandboxSetting({ HOST, SANDBOX_PROVIDER: 'false' }), ['AUTH_URL'], HOST)
    t.equal(loadSandboxSetting({ HOST, ALLOW_DEMO_CREDENTIALS: 'true' }), true, HOST)
    t.equal(loadSandboxSetting({ HOST, ...identity }), false, `${HOST}: the sandbox is off by default`)
    t.equal(loadSandboxSetting({ HOST, ...identity, SANDBOX_PROVIDER: 'true' }), true, HOST)
  }
  t.throws(() => loadSettings({ HOST: '0.0.0.0' }), /ALLOW_DEMO_CREDENTIALS=true/)
})

t.test('live provider credentials cannot be combined with the demo identity or the sandbox', async (t) => {
  const live = { ALLOW_DEMO_CREDENTIALS: 'true', SANDBOX_PROVIDER: 'false' }
  for (const credentials of [
    stripe('sk_live_made_up'),
    stripe('rk_live_made_up'),
    stripe('made_up'),
    paypal,
    authorizeNet,
  ]) {
    const name = Object.keys(credentials).join()
    t.same(loadSandboxSetting({ ...credentials, ...live }), ['AUTH_URL'], name)
    t.same(
      loadSandboxSetting({ ...credentials, ...identity }),
      ['SANDBOX_PROVIDER'],
      `${name}: the sandbox is on by default`,
    )
    t.equal(loadSandboxSetting({ ...credentials, ...identity, ...live }), false, name)
  }
  t.throws(() => loadSettings({ ...stripe('sk_live_made_up'), ...live }), { message: /^(?!.*made_up).*stripe/ })
})

t.test('provider credentials of a test environment do not count as live', async (t) => {
  const testCredentials = [
    stripe('sk_test_made_up'),
    stripe('rk_test_made_up'),
    { ...stripe('made_up'), STRIPE_API_BASE: 'http://127.0.0.1:12111' },
    { ...paypal, PAYPAL_API_BASE: 'https://api-m.sandbox.paypal.com' },
    { ...authorizeNet, AUTHORIZE_NET_API_BASE: 'https://apitest.authorize.net' },
  ]
  for (const credentials of testCredentials)
    t.equal(loadSandboxSetting(credentials), true, Object.keys(credentials).join())
})

t.test('the docs page shows the demo credentials only without AUTH_URL', async (t) => {
  const shown = (external: { readonly AUTH_URL?: string }) => {
    const ports = { postgres: 1, 'embedded-event-store': 2, identity: 3, projector: 4, worker: 5 }
    const api = { host: '127.0.0.1', port: 8080 }
    const plan = planServices({ api, ports, external, postgresDirectory: 'pg', eventStoreCredentials: 'credentials' })
    return plan.find(({ name }) => name === 'api')?.environment.DOCS_DEMO_CREDENTIALS
  }
  t.equal(shown({}), 'true')
  t.equal(shown(identity), 'false')
})
