import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { finished } from 'node:stream/promises'
import { fileURLToPath } from 'node:url'
import { moduleLoading } from '@paylog/testing/testEnvironment'
import t, { type Test } from 'tap'
import { stopTimeoutMs } from './lifecycle.ts'

const script = fileURLToPath(new URL('fixtures/app.ts', import.meta.url))
const lateScript = fileURLToPath(new URL('fixtures/lateApp.ts', import.meta.url))

type Ended = { code: number | null; signal: NodeJS.Signals | null; stdout: string; stderr: string }
type App = { child: ChildProcess; ended: Promise<Ended>; message: () => Promise<unknown> }

function start(t: Test, env: Record<string, string> = {}, program = script): App {
  const child = spawn(process.execPath, [program], {
    env: { ...moduleLoading, REQUIRED: 'x', ...env },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  })
  t.teardown(() => child.kill('SIGKILL'))
  let stdout = ''
  let stderr = ''
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    stdout += text
  })
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
  })
  // Not 'close', which is not emitted after the parent has disconnected.
  const streams = [child.stdout, child.stderr].map((stream) => stream && finished(stream))
  const ended = Promise.all([once(child, 'exit'), ...streams]).then(([[code, signal]]) => ({
    code,
    signal,
    stdout,
    stderr,
  }))
  const firstMessage = once(child, 'message')
  firstMessage.catch(() => undefined)
  return { child, ended, message: async () => (await firstMessage)[0] }
}

function steps({ stdout }: Ended): string[] {
  return Array.from(stdout.matchAll(/"step: (\w+)"/g), ([, step]) => step ?? '')
}

const inOrder = ['stopping', 'second', 'first']

t.test('an app reports ready to its supervisor, with the result of its start', async (t) => {
  const app = start(t)
  t.strictSame(await app.message(), { type: 'ready', port: 0 })
})

t.test(
  'an app stops its parts in reverse order and exits 0 on SIGTERM, SIGINT and when its supervisor ends',
  async (t) => {
    const ends: Record<string, (child: ChildProcess) => void> = {
      SIGTERM: (child) => child.kill('SIGTERM'),
      SIGINT: (child) => child.kill('SIGINT'),
      disconnect: (child) => child.disconnect(),
    }
    for (const [name, end] of Object.entries(ends)) {
      const app = start(t)
      await app.message()
      end(app.child)
      const ended = await app.ended
      t.match(ended, { code: 0, signal: null, stderr: '' }, name)
      t.strictSame(steps(ended), inOrder, name)
    }
  },
)

t.test('an app whose supervisor ends before the app is loaded stops', async (t) => {
  const app = start(t, {}, lateScript)
  app.child.disconnect()
  const overdue = setTimeout(() => app.child.kill('SIGKILL'), 15_000)
  t.match(await app.ended, { code: 0, signal: null, stderr: '' })
  clearTimeout(overdue)
})

t.test('an app exits 1 at once on a second signal', async (t) => {
  const app = start(t, { END: 'hang' })
  await app.message()
  app.child.kill('SIGTERM')
  await once(app.child.stdout ?? app.child, 'data')
  app.child.kill('SIGTERM')
  const ended = await app.ended
  t.equal(ended.code, 1)
  t.notOk(steps(ended).includes('first'))
})

t.test('a stop that times out aborts givingUp, exits 1 and logs what was unfinished', async (t) => {
  const app = start(t, { END: 'hang', STOP_TIMEOUT: '600ms' })
  await app.message()
  app.child.kill('SIGTERM')
  const ended = await app.ended
  t.match(ended, { code: 1, signal: null })
  t.strictSame(steps(ended), ['stopping', 'givingUp'])
  const line = ended.stdout.split('\n').find((text) => text.includes('stop timed out')) ?? '{}'
  t.match(JSON.parse(line), { level: 'error' })
  t.strictSame((JSON.parse(line) as { left: unknown }).left, [
    { name: 'hanging', under_way: 2, such_as: ['one thing', 'another'] },
    { name: 'second' },
    { name: 'first' },
  ])
})

t.test('stopTimeoutMs reads STOP_TIMEOUT and falls back to 20 s', async (t) => {
  t.equal(stopTimeoutMs({}), 20_000)
  t.equal(stopTimeoutMs({ STOP_TIMEOUT: '3s' }), 3_000)
  t.equal(stopTimeoutMs({ STOP_TIMEOUT: 'soon' }), 20_000, 'the app itself rejects an invalid value')
})

t.test('an app stops in order and exits 1 after an exception, a rejection or fail()', async (t) => {
  for (const [END, reason] of Object.entries({ throw: 'thrown late', reject: 'rejected late', fail: 'failed late' })) {
    const app = start(t, { END })
    await app.message()
    app.child.send('now')
    const ended = await app.ended
    t.equal(ended.code, 1, END)
    t.match(ended.stdout, new RegExp(`"level":"fatal".*${reason}`), END)
    t.strictSame(steps(ended), inOrder, END)
  }
})

t.test('an app stops its other parts when one fails to stop, and exits 1', async (t) => {
  const app = start(t, { END: 'badStop' })
  await app.message()
  app.child.kill('SIGTERM')
  const ended = await app.ended
  t.equal(ended.code, 1)
  t.strictSame(steps(ended), inOrder)
})

t.test('an app that cannot start prints one line, stops what was started, and exits 1', async (t) => {
  const ended = await start(t, { END: 'startError' }).ended
  t.equal(ended.code, 1)
  t.equal(ended.stderr, 'fixture: could not start: no luck today\n')
  t.notMatch(ended.stdout, '"msg":"stopped"', 'which would be a second line')
  t.strictSame(steps(ended), inOrder)
})

t.test('an app names its invalid variables, including LOG_LEVEL', async (t) => {
  t.match(await start(t, { REQUIRED: '', PORT: 'x' }).ended, {
    code: 1,
    stderr: /^fixture: Bad configuration: PORT must be .*; REQUIRED is required\n$/,
  })
  t.match(await start(t, { LOG_LEVEL: 'loud' }).ended, {
    code: 1,
    stderr: /^fixture: Bad configuration: LOG_LEVEL .*\n$/,
  })
})

t.test('an app names a port that is in use', async (t) => {
  const other = createServer().listen(0, '127.0.0.1')
  await once(other, 'listening')
  t.teardown(() => other.close())
  const address = other.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  t.match(await start(t, { PORT: String(port) }).ended, {
    code: 1,
    stderr: `fixture: port ${port} on 127.0.0.1 is in use; set PORT to another one\n`,
  })
})

t.test('an app names a HOST that is not an address of this machine', async (t) => {
  t.match(await start(t, { HOST: '192.0.2.1' }).ended, {
    code: 1,
    stderr: 'fixture: 192.0.2.1 is not an address of this machine; set HOST to one that is\n',
  })
})

t.test('a failure during the start ends it at the next part, and then stops all parts in order', async (t) => {
  const ended = await start(t, { END: 'failedStart' }).ended
  t.match(ended, { code: 1, stderr: '' })
  t.strictSame(steps(ended), ['stopping', 'third', 'second', 'first'])
})

t.test('an app that is stopped during its start exits 0', async (t) => {
  const app = start(t, { END: 'slowStart' })
  t.match(await app.message(), { type: 'starting' })
  app.child.kill('SIGTERM')
  const ended = await app.ended
  t.match(ended, { code: 0, stderr: '' })
  t.strictSame(steps(ended), inOrder)
})
