import { ConfigError } from '@paylog/runtime/config'
import t from 'tap'
import { loadWorkerConfig } from './config.ts'

const needed = { DATABASE_URL: 'postgresql://localhost/paylog', EVENTSTORE_URL: 'esdb://localhost:2113?tls=false' }

t.test('little is needed', async (t) => {
  t.match(loadWorkerConfig(needed), {
    nodes: [],
    PROJECT_ID: 'default',
    WEBHOOK_SUCCESS_STATUS: '200',
    WEBHOOK_ALLOWED_PRIVATE_CIDRS: [],
  })
})

t.test('one message names every bad variable of the worker and of its nodes', async (t) => {
  const refusal = (env: Record<string, string>) => {
    try {
      loadWorkerConfig(env)
    } catch (error) {
      t.ok(error instanceof ConfigError)
      return error instanceof Error ? error.message : ''
    }
    return 'accepted'
  }
  const message = refusal({ WEBHOOK_SUCCESS_STATUS: '204', WEBHOOK_1_ENABLED: 'true', WEBHOOK_2_ENABLED: 'yes' })
  for (const name of ['DATABASE_URL', 'EVENTSTORE_URL', 'WEBHOOK_SUCCESS_STATUS', 'WEBHOOK_1_URL', 'WEBHOOK_2_ENABLED'])
    t.match(message, name)
  t.notMatch(message, '\n')
  t.equal(
    refusal({ ...needed, WEBHOOK_1_ENABLED: 'yes' }),
    'Bad configuration: WEBHOOK_1_ENABLED must be true or false',
  )
  t.match(refusal({ ...needed, WEBHOOK_ALLOWED_PRIVATE_CIDRS: '127.0.0.1' }), 'WEBHOOK_ALLOWED_PRIVATE_CIDRS')
})
