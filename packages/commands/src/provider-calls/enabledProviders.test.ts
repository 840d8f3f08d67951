import { ConfigError, loadConfig } from '@paylog/runtime/config/environment'
import t from 'tap'
import { Type } from 'typebox'
import { credentialProblems, enabledProviders, providerVariables } from './enabledProviders.ts'

const config = (env: Record<string, string>) => loadConfig(Type.Object(providerVariables), env)
const enabled = async (env: Record<string, string>) => {
  const providers = await enabledProviders(config(env))
  t.teardown(() => Promise.all([...providers.values()].map((provider) => provider.close())))
  return [...providers.keys()]
}

const stripe = { STRIPE_SECRET_KEY: 'sk_test_example', STRIPE_WEBHOOK_SECRET: 'whsec_example' }
const paypal = { PAYPAL_CLIENT_ID: 'id', PAYPAL_CLIENT_SECRET: 'secret', PAYPAL_WEBHOOK_ID: 'WH1,WH2' }
const authorizeNet = {
  AUTHORIZE_NET_API_LOGIN_ID: 'login',
  AUTHORIZE_NET_TRANSACTION_KEY: 'key',
  AUTHORIZE_NET_SIGNATURE_KEY: 'A'.repeat(128),
}
const testHosts = {
  PAYPAL_API_BASE: 'https://api-m.sandbox.paypal.com',
  AUTHORIZE_NET_API_BASE: 'https://apitest.authorize.net',
}
const sandbox = { SANDBOX_PROVIDER: 'true', SANDBOX_WEBHOOK_SECRET: 'secret' }

t.test('a provider is enabled under its public id when its credentials are set [10.2-enabled]', async (t) => {
  t.same(await enabled({}), [])
  t.same(await enabled(stripe), ['stripe'])
  t.same(await enabled(paypal), ['paypal'])
  t.same(await enabled(authorizeNet), ['authorize-net'])
  t.same(await enabled(sandbox), ['sandbox'])
  t.same(await enabled({ SANDBOX_WEBHOOK_SECRET: 'secret' }), [], 'the sandbox needs SANDBOX_PROVIDER')
  t.same(await enabled({ ...stripe, ...paypal, ...authorizeNet, ...testHosts, ...sandbox }), [
    'stripe',
    'paypal',
    'authorize-net',
    'sandbox',
  ])
  t.same(
    await enabled({ STRIPE_API_BASE: 'http://127.0.0.1:1', PROVIDER_TIMEOUT_MS: '500' }),
    [],
    'an API base is not a credential',
  )
})

t.test('a partly configured provider is a configuration error that names every missing credential', async (t) => {
  for (const credentials of [stripe, paypal, authorizeNet]) {
    for (const missing of Object.keys(credentials)) {
      const { [missing]: _, ...given } = credentials as Record<string, string>
      const problems = credentialProblems(config(given))
      t.equal(problems.length, 1, missing)
      t.match(problems[0], new RegExp(`^${missing} is required when `))
      await t.rejects(enabledProviders(config(given)), ConfigError)
    }
  }
  t.same(credentialProblems(config({ SANDBOX_PROVIDER: 'true' })), [
    'SANDBOX_WEBHOOK_SECRET is required when SANDBOX_PROVIDER is true',
  ])
  t.same(credentialProblems(config({ ...sandbox, SANDBOX_PAGE_URL: 'https://pay.example.com' })), [
    'SANDBOX_DATABASE_URL is required when SANDBOX_PAGE_URL is set',
  ])
  const several = {
    STRIPE_SECRET_KEY: 'sk_test_x',
    PAYPAL_API_BASE: 'https://api-m.sandbox.paypal.com',
    PAYPAL_CLIENT_ID: 'x',
    SANDBOX_PROVIDER: 'true',
  }
  t.equal(credentialProblems(config(several)).length, 4)
  t.same(credentialProblems(config({ ...stripe, ...paypal })), [])
  t.match(credentialProblems(config({ ...stripe, STRIPE_WEBHOOK_SECRET: ' , ' })), [
    /^STRIPE_WEBHOOK_SECRET is required/,
  ])
})

t.test('the sandbox can be queried when SANDBOX_DATABASE_URL is set', async (t) => {
  const databases = { none: {}, shared: { SANDBOX_DATABASE_URL: 'postgres://127.0.0.1:1/sandbox' } }
  for (const [name, database] of Object.entries(databases)) {
    const provider = (await enabledProviders(config({ ...sandbox, ...database }))).get('sandbox')
    t.equal(provider?.retrieveIntent !== null, name === 'shared', name)
    await provider?.close()
  }
})

t.test('the sandbox beside live credentials is a configuration error that names only the providers', async (t) => {
  const live = { ...stripe, STRIPE_SECRET_KEY: 'sk_live_made_up' }
  t.same(credentialProblems(config({ ...live, ...paypal, ...authorizeNet, ...sandbox })), [
    'SANDBOX_PROVIDER must be false when live credentials are set (stripe, paypal, authorize-net)',
  ])
  t.same(credentialProblems(config({ ...live, ...paypal, ...authorizeNet })), [])
})

t.test('an out-of-range call timeout or a malformed API base is rejected [10.2-call-timeout]', async (t) => {
  t.equal(config({}).PROVIDER_TIMEOUT_MS, 10_000)
  for (const [name, value] of [
    ['PROVIDER_TIMEOUT_MS', '99'],
    ['PROVIDER_TIMEOUT_MS', '15001'],
    ['STRIPE_API_BASE', 'https://api.stripe.com/v1'],
    ['PAYPAL_API_BASE', 'ftp://example.com'],
    ['AUTHORIZE_NET_API_BASE', 'nowhere'],
  ] as const)
    t.throws(() => config({ [name]: value }), { message: new RegExp(name) })
})
