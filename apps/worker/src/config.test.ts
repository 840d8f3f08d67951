import { ConfigError } from '@paylog/config/environment'
import { testMasterKey } from '@paylog/testing/dataKeys'
import t from 'tap'
import { loadWorkerConfig } from './config.ts'

const needed = {
  DATABASE_URL: 'postgresql://localhost/paylog',
  EVENTSTORE_URL: 'esdb://localhost:2113?tls=false',
  PII_MASTER_KEY: testMasterKey,
}

t.test('DATABASE_URL, EVENTSTORE_URL and PII_MASTER_KEY are the only required variables [10.4-defaults]', async (t) => {
  const { endpoints, WEBHOOK_ALLOWED_PRIVATE_CIDRS, ...others } = loadWorkerConfig(needed)
  t.same([endpoints, WEBHOOK_ALLOWED_PRIVATE_CIDRS], [[], []])
  t.match(others, {
    PROJECT_ID: 'default',
    PROJECT_IDS: [],
    WEBHOOK_SUCCESS_STATUS: '200',
    PAYMENT_RECONCILE_AFTER: 3_600_000,
    SANDBOX_PROVIDER: false,
    PROVIDER_TIMEOUT_MS: 10_000,
  })
})

t.test('endpoints of both configuration styles are decoded', async (t) => {
  const { endpoints } = loadWorkerConfig({
    ...needed,
    WEBHOOK_1_ENABLED: 'true',
    WEBHOOK_1_URL: 'https://example.com/1',
    EXTERNAL_WEBHOOK_URLS: 'https://example.com/a,https://example.com/b',
  })
  t.same(
    endpoints.map(({ name, mode }) => [name, mode]),
    [
      ['1', 'canonical'],
      ['legacy-1', 'legacy'],
      ['legacy-2', 'legacy'],
    ],
  )
})

function configError(env: Record<string, string>): string {
  try {
    loadWorkerConfig(env)
  } catch (error) {
    if (error instanceof ConfigError) return error.message
    throw error
  }
  return 'accepted'
}

t.test('one message names every bad variable of the worker and its endpoints', async (t) => {
  const message = configError({ WEBHOOK_SUCCESS_STATUS: '204', WEBHOOK_1_ENABLED: 'true', WEBHOOK_2_ENABLED: 'yes' })
  for (const name of ['DATABASE_URL', 'EVENTSTORE_URL', 'WEBHOOK_SUCCESS_STATUS', 'WEBHOOK_1_URL', 'WEBHOOK_2_ENABLED'])
    t.match(message, name)
  t.notMatch(message, '\n')
  t.equal(
    configError({ ...needed, WEBHOOK_1_ENABLED: 'yes' }),
    'Bad configuration: WEBHOOK_1_ENABLED must be true or false',
  )
  t.match(configError({ ...needed, WEBHOOK_ALLOWED_PRIVATE_CIDRS: '127.0.0.1' }), 'WEBHOOK_ALLOWED_PRIVATE_CIDRS')
})

t.test('one message names every missing credential', async (t) => {
  const message = configError({
    STRIPE_SECRET_KEY: 'sk_test_example',
    STRIPE_API_BASE: 'nowhere',
    PAYPAL_WEBHOOK_ID: 'id-1,id-2',
    PAYPAL_CLIENT_ID: '',
    SANDBOX_PROVIDER: 'true',
    PROVIDER_TIMEOUT_MS: 'long',
  })
  const names = ['DATABASE_URL', 'STRIPE_WEBHOOK_SECRET is required', 'PAYPAL_CLIENT_ID is required', 'STRIPE_API_BASE']
  for (const name of [...names, 'PAYPAL_CLIENT_SECRET', 'SANDBOX_WEBHOOK_SECRET', 'PROVIDER_TIMEOUT_MS'])
    t.equal(message.split(name).length, 2, name)
  t.notMatch(message, 'sk_test_example')
  t.equal(configError({ ...needed, STRIPE_SECRET_KEY: 'sk_test_example', STRIPE_WEBHOOK_SECRET: 'whsec' }), 'accepted')
  t.equal(
    configError({ ...needed, SANDBOX_PROVIDER: 'maybe' }),
    'Bad configuration: SANDBOX_PROVIDER must be true or false',
  )
})

t.test('PAYMENT_RECONCILE_AFTER is at least a second', async (t) => {
  const after = (PAYMENT_RECONCILE_AFTER: string) => configError({ ...needed, PAYMENT_RECONCILE_AFTER })
  t.equal(after('1s'), 'accepted')
  t.equal(after('15m'), 'accepted')
  for (const short of ['0', '999ms', '0h'])
    t.equal(after(short), 'Bad configuration: PAYMENT_RECONCILE_AFTER must be at least 1s', short)
  t.match(after('soon'), /^Bad configuration: PAYMENT_RECONCILE_AFTER must be a duration[^;]*$/)
})

t.test('deliveries are kept for 90 days by default, and the health page is optional', async (t) => {
  t.match(loadWorkerConfig(needed), { WEBHOOK_LOG_RETENTION: 90 * 24 * 3_600_000, HOST: '127.0.0.1' })
  t.equal(loadWorkerConfig(needed).HEALTH_PORT, undefined)
  t.match(loadWorkerConfig({ ...needed, WEBHOOK_LOG_RETENTION: '0', HEALTH_PORT: '9100' }), {
    WEBHOOK_LOG_RETENTION: 0,
    HEALTH_PORT: 9100,
  })
  t.match(configError({ ...needed, WEBHOOK_LOG_RETENTION: 'ever' }), 'WEBHOOK_LOG_RETENTION must be a duration such as')
  t.match(configError({ ...needed, HEALTH_PORT: 'none' }), 'HEALTH_PORT must be a port number')
})

t.test('RETENTION_CLIENT_SECRETS is "end" or a duration, RETENTION_PROVIDER_BODIES a duration', async (t) => {
  const day = 24 * 3_600_000
  t.match(loadWorkerConfig(needed), { RETENTION_PROVIDER_BODIES: 400 * day, RETENTION_CLIENT_SECRETS: 'end' })
  t.match(loadWorkerConfig({ ...needed, RETENTION_PROVIDER_BODIES: '0', RETENTION_CLIENT_SECRETS: '90d' }), {
    RETENTION_PROVIDER_BODIES: 0,
    RETENTION_CLIENT_SECRETS: 90 * day,
  })
  t.match(
    configError({ ...needed, RETENTION_CLIENT_SECRETS: 'never' }),
    'RETENTION_CLIENT_SECRETS must be end or a duration such as',
  )
  t.match(configError({ ...needed, RETENTION_PROVIDER_BODIES: 'end' }), 'RETENTION_PROVIDER_BODIES must be a duration')
})
