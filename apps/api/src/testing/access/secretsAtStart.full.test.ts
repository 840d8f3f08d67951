// An app that fails to start reports the reason without any of its secrets.
import { freePort, startProcess } from '@paylog/testing/processes'
import t, { type Test } from 'tap'
import { leaksInText } from './leaks.ts'

const main = (app: string) => new URL(`../../../../${app}/src/main.ts`, import.meta.url)

/** The output of an app that cannot start, or that is stopped after it has started. */
async function outputOf(t: Test, app: string, env: Readonly<Record<string, string>>): Promise<string> {
  const started = startProcess(t, { script: main(app), env: { HOST: '127.0.0.1', LOG_LEVEL: 'trace', ...env } })
  const running = await started.catch((error: Error) => error.message)
  if (typeof running === 'string') return running
  const url = running.detail.url ?? running.detail.healthUrl
  if (typeof url === 'string')
    await Promise.all(['/payments', '/health/ready'].map((path) => fetch(`${url}${path}`).catch(() => undefined)))
  await running.stop()
  return running.output()
}

t.test('an app that fails to start, or cannot reach its backends, prints no secret', async (t) => {
  const nowhere = `127.0.0.1:${await freePort()}`
  const away = {
    DATABASE_URL: `postgres://paylog:cred.database@${nowhere}/paylog`,
    EVENTSTORE_URL: `esdb://admin:cred.store@${nowhere}?tls=false`,
    AUTH_URL: `http://${nowhere}`,
    REDIS_URL: `redis://:cred.redis@${nowhere}`,
    PORT: '0',
    HEALTH_PORT: '0',
  }
  const malformed = {
    DATABASE_URL: 'paylog:cred.database@db.example.com',
    EVENTSTORE_URL: 'http://admin:cred.store@store.example.com?tls=cred.option',
    AUTH_URL: 'https://admin:cred.identity@auth.example.com/cred.path',
    REDIS_URL: 'http://:cred.redis@redis.example.com',
    PII_MASTER_KEY: 'cred.master',
    STRIPE_SECRET_KEY: 'cred.stripe.key',
    PAYPAL_CLIENT_SECRET: 'cred.paypal.secret',
    WEBHOOK_1_ENABLED: 'true',
    WEBHOOK_1_URL: 'ftp://hooks.example.com/cred.hook',
    WEBHOOK_1_SECRET: 'cred.signing',
    EXTERNAL_WEBHOOK_URLS: 'hooks.example.com/cred.hook',
    CORS_ORIGINS: 'https://shop.example.com/cred.path',
    PORT: 'cred.port',
  }
  const traced = { ...away, OTEL_EXPORTER_OTLP_ENDPOINT: 'grpc://cred.collector' }
  const unsupported = { ...away, EVENTSTORE_URL: `esdb://admin:cred.store@${nowhere}?cred=cred.option` }
  const cases = [
    ['embedded-event-store', away],
    ['embedded-event-store', malformed],
    ['api', away],
    ['api', malformed],
    ['api', traced],
    ['api', unsupported],
    ['projector', away],
    ['projector', malformed],
    ['worker', away],
    ['worker', malformed],
  ] as const
  const inTurn = cases.values()
  const work = async () => {
    for (const [app, env] of inTurn) {
      const output = await outputOf(t, app, env)
      t.match(output, /could not|Bad configuration|failed|not ready|again/, `${app} reports the reason`)
      t.same(leaksInText(output), [], app)
    }
  }
  await Promise.all([work(), work(), work()])
})
