// Other accounts on the machine cannot use the event store or the database of a running system.
import { randomUUID } from 'node:crypto'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { noDataKeys } from '@paylog/event-store/codec/dataKeys'
import { createEventStore } from '@paylog/event-store/eventStore'
import { readRuntime } from '@paylog/runtime/process/runtimeFile'
import { startProcess } from '@paylog/testing/processes'
import t from 'tap'
import { dataDirectory } from './testing/dataDirectory.ts'

const directory = dataDirectory(t)
const system = await startProcess(t, {
  script: new URL('./main.ts', import.meta.url),
  // Its own master key, not the one of the tests.
  env: { DATA_DIR: directory, PORT: '0', PII_MASTER_KEY: '' },
})
const { environment = {}, parts = [] } = readRuntime(directory) ?? {}
const { EVENTSTORE_URL = '', DATABASE_URL = '' } = environment

const noon = '2026-01-01T12:00:00.000Z'

const connect = (connectionString: string) => {
  const store = createEventStore({ connectionString, keys: noDataKeys })
  t.teardown(() => store.close())
  return store
}

t.test('the event store rejects reads and writes without the credentials of the running system', async (t) => {
  const port = parts.find(({ name }) => name === 'embedded-event-store')?.address.split(':')[1]
  for (const credentials of ['', 'admin:changeit@', 'paylog:paylog@']) {
    const stranger = connect(`esdb://${credentials}127.0.0.1:${port}?tls=false`)
    await t.rejects(stranger.head(), { code: 'event_store_unavailable' }, `reads as ${credentials}`)
    const appended = stranger.handle({
      stream: 'defaultChoice-forged',
      fold: { initialState: 0, evolve: (count: number) => count },
      assumed: { state: 0, revision: 'no_stream', position: undefined },
      decide: () => [
        { type: 'DefaultCleared', data: { list_id: randomUUID(), list: 'payment_methods', occurred_at: noon } },
      ],
      metadata: { correlationId: 'c', causationId: 'c', actor: 'anonymous' },
    })
    await t.rejects(
      appended,
      { message: 'The event store rejected this; nothing was recorded' },
      `appends as ${credentials}`,
    )
  }
  t.same(await connect(EVENTSTORE_URL).readStream('defaultChoice-forged'), [])
})

t.test('npm start keeps its credentials in owner-only files, out of output, logs and the process list', (t) => {
  t.equal(statSync(directory).mode & 0o777, 0o700)
  t.equal(statSync(join(directory, 'event-store-credentials')).mode & 0o777, 0o600)
  const made = readFileSync(join(directory, 'event-store-credentials'), 'utf8')
  t.match(made, /^paylog:[0-9a-f]{64}$/)
  t.equal(environment.PII_MASTER_KEY_FILE, join(directory, 'pii-master-key'))
  t.notOk('PII_MASTER_KEY' in environment)
  t.equal(statSync(join(directory, 'pii-master-key')).mode & 0o777, 0o600)
  const masterKey = readFileSync(join(directory, 'pii-master-key'), 'utf8')
  const secrets = [made, DATABASE_URL].map((text) => /:([^:@]{40,})(?:@|$)/.exec(text)?.[1] ?? '')
  const logs = readdirSync(join(directory, 'logs')).map((name) => readFileSync(join(directory, 'logs', name), 'utf8'))
  const commands = parts.map(({ pid }) => readFileSync(`/proc/${pid}/cmdline`, 'utf8'))
  t.ok(secrets.every((secret) => secret.length >= 48) && logs.length > 5 && commands.length > 4)
  for (const text of [system.output(), ...logs, ...commands])
    for (const secret of [...secrets, masterKey]) t.notOk(text.includes(secret))
  t.end()
})
