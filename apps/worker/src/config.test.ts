import { ConfigError } from '@paylog/runtime/config/environment'
import { testMasterKey } from '@paylog/testing/dataKeys'
import { startProcess } from '@paylog/testing/processes'
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
  const bad = {
    EVENTSTORE_URL: 'http://hidden.example',
    PII_MASTER_KEY: 'hidden',
    WEBHOOK_SUCCESS_STATUS: 'hidden',
    WEBHOOK_1_URL: 'https://user:hidden@example.com',
    WEBHOOK_2_ENABLED: 'hidden',
    EXTERNAL_WEBHOOK_URLS: 'https://example.com,hidden',
    STRIPE_API_BASE: 'hidden',
    PAYPAL_CLIENT_ID: '',
    SANDBOX_PROVIDER: 'hidden',
  }
  const message = configError({
    ...bad,
    WEBHOOK_1_ENABLED: 'true',
    STRIPE_SECRET_KEY: 'sk_hidden',
    PAYPAL_WEBHOOK_ID: 'id-1',
  })
  const missing = ['DATABASE_URL', 'STRIPE_WEBHOOK_SECRET', 'PAYPAL_CLIENT_ID', 'PAYPAL_CLIENT_SECRET']
  for (const name of [...Object.keys(bad), ...missing]) t.equal(message.split(`${name} `).length, 2, name)
  t.notMatch(message, /hidden|\n/)
  t.equal(
    configError({ ...needed, WEBHOOK_1_ENABLED: 'yes' }),
    'Bad configuration: WEBHOOK_1_ENABLED must be true or false',
  )
  t.match(configError({ ...needed, WEBHOOK_ALLOWED_PRIVATE_CIDRS: '127.0.0.1' }), 'WEBHOOK_ALLOWED_PRIVATE_CIDRS')
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

t.test('a configuration warning is logged and does not stop the worker', async (t) => {
  const doubtful = { WEBHOOK_1_URL: 'http://127.0.0.1:9/hidden', WEBHOOK_1_EVENTS: 'payments.*' }
  const nowhere = { DATABASE_URL: 'postgresql://127.0.0.1:9/paylog', EVENTSTORE_URL: 'esdb://127.0.0.1:9?tls=false' }
  const env = { ...nowhere, ...doubtful, WEBHOOK_1_ENABLED: 'true' }
  const worker = startProcess(t, { script: new URL('./main.ts', import.meta.url), env })
  const output = await worker.then(() => 'It started', String)
  t.match(
    output,
    'Configuration warning: WEBHOOK_1_EVENTS has a pattern (number 1) that matches no event of a canonical endpoint',
  )
  t.match(output, 'ECONNREFUSED', 'it stops because the database is down')
  t.notMatch(output, 'hidden')
})
