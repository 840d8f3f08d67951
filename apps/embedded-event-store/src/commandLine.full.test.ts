// Flags, defaults and error messages, and the server run by hand.
import { execFile } from 'node:child_process'
import { createServer } from 'node:http'
import { fileURLToPath } from 'node:url'
import { EventStoreDBClient, jsonEvent } from '@eventstore/db-client'
import { listen } from '@paylog/testing/fakeServer'
import { startProcess } from '@paylog/testing/processes'
import { createTestDatabase } from '@paylog/testing/testDatabase'
import { moduleLoading } from '@paylog/testing/testEnvironment'
import t from 'tap'
import { connectionStringOf, loadSettings, readCommandLine } from './commandLine.ts'

const script = new URL('./main.ts', import.meta.url)

type Ended = { readonly code: number; readonly stdout: string; readonly stderr: string }

function run(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Ended> {
  return new Promise((resolve) => {
    const options = { env: { PATH: process.env.PATH, ...moduleLoading, LOG_LEVEL: 'silent', ...env } }
    execFile(process.execPath, [fileURLToPath(script), ...args], options, (error, stdout, stderr) => {
      resolve({ code: typeof error?.code === 'number' ? error.code : error ? -1 : 0, stdout, stderr })
    })
  })
}

t.test('flags set variables', async (t) => {
  t.same(readCommandLine(['--port', '1', '--database-url=x', '--insecure', '--max-append-bytes', '5', '--host=h']), {
    kind: 'run',
    environment: { PORT: '1', DATABASE_URL: 'x', INSECURE: 'true', MAX_APPEND_BYTES: '5', HOST: 'h' },
  })
  t.same(readCommandLine(['--log-level', 'debug']), { kind: 'run', environment: { LOG_LEVEL: 'debug' } })
  t.same(readCommandLine([]), { kind: 'run', environment: {} })
  t.same(readCommandLine(['--nonsense', '-h']).kind, 'wrong')
  t.same(readCommandLine(['-h']).kind, 'help')
  t.match(readCommandLine(['--port', '-1']), { kind: 'wrong', problem: /^Option '--port' argument is ambiguous$/ })
  t.match(readCommandLine(['--log-level', 'loud']), { kind: 'wrong', problem: /^--log-level must be one of trace, / })
})

t.test('missing settings have defaults, and one error names all invalid ones as they were given', async (t) => {
  const DATABASE_URL = 'postgres://127.0.0.1/x'
  t.match(loadSettings({ DATABASE_URL }, {}), {
    HOST: '127.0.0.1',
    PORT: 2113,
    DATABASE_URL,
    MAX_APPEND_BYTES: 1 << 20,
  })
  const environment = { PORT: 'x', MAX_APPEND_BYTES: '0', HOST: '192.0.2.1' }
  t.throws(() => loadSettings(environment, { PORT: 'x', HOST: '192.0.2.1' }), {
    name: 'ConfigError',
    problems: [
      '--port must be a port number from 0 to 65535',
      'DATABASE_URL is required',
      'MAX_APPEND_BYTES must be a whole number from 1 to 16777216',
      /^--host can be reached by other machines/,
    ],
  })
})

t.test('a host that other machines can reach requires --insecure', async (t) => {
  const settings = (HOST: string, more = {}) =>
    loadSettings({ DATABASE_URL: 'postgres://127.0.0.1/x', HOST, ...more }, {})
  for (const own of ['127.0.0.1', '127.8.9.1', '::1', 'localhost', '']) t.doesNotThrow(() => settings(own), own)
  for (const open of ['0.0.0.0', '::', '192.0.2.1', 'store.example.com', '127.0.0.1.example.com', '1270.0.0.1']) {
    t.throws(() => settings(open), { message: /HOST can be reached by other machines/ }, open)
    t.equal(settings(open, { INSECURE: 'true' }).HOST, open)
  }
  t.throws(() => settings('0.0.0.0', { INSECURE: 'yes' }), { message: /INSECURE must be true or false; HOST can be/ })
})

t.test('connectionStringOf returns the address for clients', async (t) => {
  t.equal(connectionStringOf('127.0.0.1', 2113), 'esdb://127.0.0.1:2113?tls=false')
  t.equal(connectionStringOf('0.0.0.0', 1), 'esdb://127.0.0.1:1?tls=false')
  t.equal(connectionStringOf('::1', 1), 'esdb://localhost:1?tls=false')
})

t.test('an invalid command line prints the error and the usage', async (t) => {
  t.match(await run(['--help']), { code: 0, stdout: /^Usage: npm run event-store -- /, stderr: '' })
  const wrong = await run(['--colour'])
  t.match(wrong, { code: 2, stdout: '', stderr: /^embedded-event-store: Unknown option '--colour'\n\nUsage: / })
  t.match(await run(['--port', 'x']), {
    code: 1,
    stderr:
      'embedded-event-store: Bad configuration: --port must be a port number from 0 to 65535; DATABASE_URL is required\n',
  })
})

t.test('a failed start prints one line', async (t) => {
  t.match(await run(['--database-url', 'postgres://127.0.0.1:1/none']), {
    code: 1,
    stderr: /^embedded-event-store: could not start: Postgres cannot be reached: connect ECONNREFUSED 127.0.0.1:1\n$/,
  })
  const { databaseUrl } = await createTestDatabase(t)
  const { port } = new URL(await listen(t, createServer()))
  t.match(await run(['--port', port], { DATABASE_URL: databaseUrl }), {
    code: 1,
    stderr: `embedded-event-store: could not start: port ${port} on 127.0.0.1 is in use; choose another one with --port or PORT\n`,
  })
})

t.test('flags override the environment, and the server may listen on an IPv6 address', async (t) => {
  const { databaseUrl } = await createTestDatabase(t)
  const flags = {
    host: '::1',
    port: '0',
    'database-url': databaseUrl,
    'max-append-bytes': '100',
    'log-level': 'silent',
  }
  const { detail } = await startProcess(t, {
    script,
    args: Object.entries(flags).flatMap(([flag, value]) => [`--${flag}`, value]),
    env: { HOST: '127.0.0.1', PORT: '1', DATABASE_URL: 'postgres://127.0.0.1:1/none', LOG_LEVEL: 'info' },
  })
  const client = new EventStoreDBClient({ endpoint: `[::1]:${detail.port}` }, { insecure: true })
  t.teardown(() => client.dispose())
  const ofBytes = (length: number) => jsonEvent({ type: 'T', data: { text: 'x'.repeat(length) } })
  t.match(await client.appendToStream('s', ofBytes(10)), { success: true })
  const rejection = await client.appendToStream('s', ofBytes(200)).catch((error: Error) => error)
  t.match(rejection, { type: 'maximum-append-size-exceeded', maxAppendSize: 100 })
})
