import { testMasterKey } from '@paylog/testing/dataKeys'
import t from 'tap'
import { Type } from 'typebox'
import { loadOperatorConfig, operatorVariables } from './config.ts'

const required = {
  DATABASE_URL: 'postgres://127.0.0.1/paylog',
  EVENTSTORE_URL: 'esdb://127.0.0.1?tls=false',
  PII_MASTER_KEY: testMasterKey,
  AUTH_URL: 'http://127.0.0.1',
}
const load = (env: Readonly<Record<string, string>> = {}) =>
  loadOperatorConfig(Type.Object(operatorVariables), { ...required, ...env })

t.test('HEALTH_URLS are names with the URLs of processes, and none by default', async (t) => {
  t.same(load().HEALTH_URLS, [])
  const urls = ['projector=http://127.0.0.1:8081', 'worker-2=https://worker.example.com']
  t.same(load({ HEALTH_URLS: urls.join(', ') }).HEALTH_URLS, urls)
  for (const bad of [
    'http://127.0.0.1:8081',
    'worker',
    'worker=',
    '=http://127.0.0.1:8081',
    'worker=file:///etc/passwd',
    'worker=postgres://127.0.0.1',
    'worker=http://127.0.0.1:8081/health/ready',
    'a worker=http://127.0.0.1:8081',
  ])
    t.throws(
      () => load({ HEALTH_URLS: bad }),
      { message: /^Bad configuration: HEALTH_URLS must be names and URLs/ },
      bad,
    )
})

t.test('the webhook endpoints are read without their signing secrets', async (t) => {
  const env = { WEBHOOK_1_ENABLED: 'true', WEBHOOK_1_URL: 'https://shop.example.com/hook' }
  const { endpoints } = load({ ...env, WEBHOOK_1_SECRET_FILE: '/only/for/the/worker' })
  t.match(endpoints, [{ name: '1', url: 'https://shop.example.com/hook', secrets: [] }])
  t.throws(() => load({ WEBHOOK_1_ENABLED: 'true' }), /WEBHOOK_1_URL/)
})
