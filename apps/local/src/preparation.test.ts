// What is settled before the first process starts.
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { removeRuntime, writeRuntime } from '@paylog/ops/runtimeFile'
import t from 'tap'
import { prepare } from './preparation.ts'
import { loadSettings } from './settings.ts'

t.test('programs beside the system are told of the webhook nodes, in a file that only its owner reads', async (t) => {
  const DATA_DIR = t.testdir({})
  const nodes = {
    EXTERNAL_WEBHOOK_URLS: 'https://example.com/legacy',
    EXTERNAL_WEBHOOKS_ENABLED: 'true',
    WEBHOOK_1_ENABLED: 'true',
    WEBHOOK_1_URL: 'https://example.com/hook',
    WEBHOOK_LOG_RETENTION: '30d',
    PROJECT_ID: 'project-1',
  }
  const given = { ...nodes, DATA_DIR, PORT: '0', WEBHOOK_2_URL: '', UNRELATED: 'x' }
  const { environment, unlock, baseUrl } = await prepare(loadSettings(given), given)
  t.teardown(unlock)
  t.match(environment, nodes)
  t.match(environment, { WEBHOOK_ALLOWED_PRIVATE_CIDRS: '127.0.0.0/8,::1/128' })
  t.notOk('UNRELATED' in environment || 'WEBHOOK_2_URL' in environment)
  writeRuntime(DATA_DIR, { pid: process.pid, started_at: '', base_url: baseUrl, environment, parts: [] })
  t.teardown(() => removeRuntime(DATA_DIR))
  t.equal(statSync(join(DATA_DIR, 'runtime.json')).mode & 0o777, 0o600)
})
