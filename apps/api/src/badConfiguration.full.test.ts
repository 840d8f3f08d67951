import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { moduleLoading } from '@paylog/testing/testEnvironment'
import t, { type Test } from 'tap'

/** Runs an app that must fail to start. */
async function startError(t: Test, app: string, env: Readonly<Record<string, string>>) {
  const script = fileURLToPath(new URL(`../../${app}/src/main.ts`, import.meta.url))
  const child = spawn(process.execPath, [script], {
    env: { ...moduleLoading, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  t.teardown(() => child.kill('SIGKILL'))
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')])
  return { code, stdout, stderr }
}

const hidden = 'hidden-value'
const api = {
  PORT: hidden,
  TRUST_PROXY: hidden,
  CORS_ORIGINS: hidden,
  MAX_CONNECTIONS: hidden,
  MAX_CONNECTIONS_PER_ADDRESS: hidden,
  REDIS_URL: hidden,
  RATE_LIMIT_PER_MINUTE: hidden,
  RATE_LIMIT_ANONYMOUS_PER_MINUTE: hidden,
  RATE_LIMIT_UNAUTHENTICATED_PER_MINUTE: hidden,
  SHED_EVENT_LOOP_DELAY: hidden,
}
const command = {
  EVENTSTORE_URL: hidden,
  PII_MASTER_KEY: hidden,
  GUEST_TOKEN_HISTORY_FALLBACK: hidden,
  GUEST_TOKEN_HISTORY_MAX_AGE: hidden,
  PAYMENT_EXPIRES_AFTER: hidden,
  RETURN_URL_ORIGINS: hidden,
  STRIPE_API_BASE: hidden,
  PROVIDER_TIMEOUT_MS: hidden,
  WEBHOOK_1_ENABLED: hidden,
  PAYPAL_CLIENT_SECRET_FILE: `/nowhere/${hidden}`,
}
/** Bad values for each app, and the variables that are reported as missing beside them. */
const apps: Record<string, { readonly bad: Readonly<Record<string, string>>; readonly missing: readonly string[] }> = {
  'command-api': { bad: { ...api, ...command }, missing: ['AUTH_URL', 'DATABASE_URL'] },
  'query-api': { bad: { ...api, DATABASE_URL: hidden }, missing: ['AUTH_URL'] },
  api: { bad: { ...api, ...command, AUTH_URL: hidden }, missing: ['DATABASE_URL'] },
  projector: {
    bad: { HEALTH_PORT: hidden, EVENTSTORE_URL: hidden, PII_MASTER_KEY: hidden },
    missing: ['DATABASE_URL'],
  },
  worker: {
    bad: {
      HEALTH_PORT: hidden,
      REDIS_URL: hidden,
      WEBHOOK_SUCCESS_STATUS: hidden,
      WEBHOOK_ALLOWED_PRIVATE_CIDRS: hidden,
      WEBHOOK_LOG_RETENTION: hidden,
      PAYMENT_RECONCILE_AFTER: hidden,
      SANDBOX_PROVIDER: hidden,
      WEBHOOK_2_ENABLED: hidden,
      DATABASE_URL_FILE: `/nowhere/${hidden}`,
    },
    missing: ['EVENTSTORE_URL', 'PII_MASTER_KEY'],
  },
  'embedded-event-store': {
    bad: { PORT: hidden, MAX_APPEND_BYTES: hidden, INSECURE: hidden },
    missing: ['DATABASE_URL'],
  },
}

for (const [app, { bad, missing }] of Object.entries(apps)) {
  t.test(
    `${app} fails to start with bad variables, with one line that names all of them without their values`,
    async (t) => {
      const { code, stdout, stderr } = await startError(t, app, bad)
      t.equal(code, 1)
      t.equal(stdout.split('\n').filter((line) => line.includes('"ready"')).length, 0)
      const [line = '', ...rest] = stderr.split('\n')
      t.same(rest, [''], 'one line')
      t.ok(line.startsWith(`${app}: Bad configuration: `), line)
      const named = line.slice(`${app}: Bad configuration: `.length).split('; ')
      const names = named.map((sentence) => sentence.split(' ', 1)[0])
      t.same(names.toSorted(), [...Object.keys(bad), ...missing].toSorted())
      t.notMatch(stdout + stderr, hidden)
    },
  )
}
