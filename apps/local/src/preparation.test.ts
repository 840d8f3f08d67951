import { join } from 'node:path'
import { parseRights } from '@paylog/identity/rightsVariable'
import { demoRights, demoSessions } from '@paylog/identity/sandboxIdentity'
import { ConfigError } from '@paylog/runtime/config/environment'
import t from 'tap'
import { prepare } from './preparation.ts'
import { loadSettings, withoutSettings } from './settings.ts'

t.test('prepare passes the webhook endpoint variables on', async (t) => {
  const DATA_DIR = t.testdir({})
  const webhookVariables = {
    EXTERNAL_WEBHOOK_URLS: 'https://example.com/legacy',
    EXTERNAL_WEBHOOKS_ENABLED: 'true',
    WEBHOOK_1_ENABLED: 'true',
    WEBHOOK_1_URL: 'https://example.com/hook',
    WEBHOOK_LOG_RETENTION: '30d',
    PROJECT_ID: 'project-1',
    PROJECT_IDS: 'project-2,project-3',
  }
  const given = { ...webhookVariables, DATA_DIR, PORT: '0', WEBHOOK_2_URL: '', UNRELATED: 'x' }
  const { environment, unlock } = await prepare(loadSettings(given), given)
  t.teardown(unlock)
  t.match(environment, webhookVariables)
  t.match(environment, { WEBHOOK_ALLOWED_PRIVATE_CIDRS: '127.0.0.0/8,::1/128' })
  t.match(environment.SANDBOX_PAGE_URL, /^http:\/\/127\.0\.0\.1:\d+$/, 'the address of the API')
  t.match(loadSettings({ SANDBOX_PAGE_URL: 'https://pay.example.com' }), {
    SANDBOX_PAGE_URL: 'https://pay.example.com',
  })
  t.notOk('UNRELATED' in environment || 'WEBHOOK_2_URL' in environment)
})

t.test('the demo users have rights, unless RIGHTS or AUTH_URL is set', async (t) => {
  const rightsWith = async (given: Record<string, string>) => {
    const variables = { ...given, DATA_DIR: t.testdir({}), PORT: '0' }
    const { environment, unlock } = await prepare(loadSettings(variables), variables)
    unlock()
    return environment.RIGHTS
  }
  t.equal(await rightsWith({}), demoRights)
  t.equal(await rightsWith({ RIGHTS: 'support=refund' }), undefined, 'the API gets what is set')
  t.equal(await rightsWith({ AUTH_URL: 'https://auth.example.com' }), undefined)
  const userTypes = demoSessions.map(({ user }) => user.userType)
  for (const userType of parseRights(demoRights).keys()) t.ok(userTypes.includes(userType), userType)
})

t.test('loadSettings reads every variable of every app from a file too, and names all bad ones', async (t) => {
  const DATA_DIR = t.testdir({
    stripe: 'sk_test_made_up\n',
    signing: 'whsec_made_up\n',
    postgres: 'postgres://paylog.example/db\n',
    hook: 'https://example.com/hook\n',
    empty: '',
  })
  const file = (name: string) => join(DATA_DIR, name)
  const given = {
    DATA_DIR,
    PORT: '0',
    STRIPE_SECRET_KEY_FILE: file('stripe'),
    STRIPE_WEBHOOK_SECRET_FILE: file('signing'),
    DATABASE_URL_FILE: file('postgres'),
    WEBHOOK_1_ENABLED: 'true',
    WEBHOOK_1_URL_FILE: file('hook'),
  }
  const settings = loadSettings(given)
  t.match(settings, { STRIPE_SECRET_KEY: 'sk_test_made_up', DATABASE_URL: 'postgres://paylog.example/db' })
  const { environment, plan, unlock } = await prepare(settings, given)
  t.teardown(unlock)
  t.notOk(
    plan.some(({ name }) => name === 'postgres'),
    'an external Postgres is used',
  )
  t.match(environment, { DATABASE_URL: settings.DATABASE_URL, WEBHOOK_1_URL_FILE: file('hook') })
  t.notOk('DATABASE_URL_FILE' in environment)

  const bad = {
    ...given,
    STRIPE_WEBHOOK_SECRET_FILE: file('empty'),
    WEBHOOK_1_URL_FILE: file('missing'),
    DATABASE_URL: 'postgres://other.example/db',
    TRUST_PROXY: 'hidden',
    CORS_ORIGINS: 'hidden',
    RATE_LIMIT_PER_MINUTE: 'hidden',
    STOP_TIMEOUT: 'hidden',
    RETENTION_PROVIDER_BODIES: 'hidden',
    RETENTION_CLIENT_SECRETS: 'hidden',
    LOG_LEVEL: 'hidden',
  }
  try {
    loadSettings(bad)
    t.fail('loadSettings accepted bad variables')
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    t.same(error.problems.map((problem) => problem.split(' ', 1)[0]).toSorted(), [
      'CORS_ORIGINS',
      'DATABASE_URL',
      'LOG_LEVEL',
      'RATE_LIMIT_PER_MINUTE',
      'RETENTION_CLIENT_SECRETS',
      'RETENTION_PROVIDER_BODIES',
      'STOP_TIMEOUT',
      'STRIPE_WEBHOOK_SECRET_FILE',
      'TRUST_PROXY',
      'WEBHOOK_1_URL_FILE',
    ])
    t.notMatch(error.message, /hidden|whsec|\n/)
  }
})

t.test('the API shows the health pages of the projector and the worker', async (t) => {
  const given = { DATA_DIR: t.testdir(), PORT: '0' }
  const { plan, unlock } = await prepare(loadSettings(given), given)
  t.teardown(unlock)
  const service = (name: string) => plan.find((each) => each.name === name)
  t.equal(
    service('api')?.environment.HEALTH_URLS,
    `projector=http://${service('projector')?.address},worker=http://${service('worker')?.address}`,
  )
})

t.test('withoutSettings removes every setting from an environment, files included', async (t) => {
  const inherited = {
    PATH: '/bin',
    STRIPE_SECRET_KEY_FILE: '/run/secrets/stripe',
    WEBHOOK_1_SECRET_FILE: '/run/secrets/hook',
    CORS_ORIGINS: 'https://shop.example.com',
    RATE_LIMIT_PER_MINUTE: '5',
    TRUST_PROXY: '10.0.0.0/8',
    STOP_TIMEOUT: '1s',
    RETENTION_CLIENT_SECRETS: '30d',
    OTHER_FILE: 'kept',
  }
  t.same(withoutSettings(inherited), { PATH: '/bin', OTHER_FILE: 'kept' })
})
