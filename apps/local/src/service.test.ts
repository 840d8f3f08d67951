import { existsSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { waitFor } from '@paylog/testing/waitFor'
import t, { type Test } from 'tap'
import { createChildLog } from './childLog.ts'
import { runOnce, startService } from './service.ts'

/** A part whose program is the given text. */
function serviceOf(t: Test, program: string) {
  const directory = t.testdir({ 'program.js': program })
  const said: string[] = []
  const terminal = { say: (text: string) => void said.push(text) }
  const log = createChildLog({ directory, name: 'sample', terminal })
  t.teardown(() => log.close())
  const options = { name: 'sample', command: [join(directory, 'program.js')], environment: {}, log, terminal }
  return { directory, said, options, log }
}

const stays = "process.send({ type: 'ready', port: 7 }); setInterval(() => undefined, 1000)"

t.test('a part that ends before it is ready says why', async (t) => {
  const { options } = serviceOf(t, "console.error('sample: PORT is required'); process.exit(1)")
  const part = startService({ ...options, onRestart: () => t.fail('is not repeated') })
  await t.rejects(part.ready, { name: 'StartError', message: 'sample: PORT is required' })
  await part.stop()
})

t.test('a part that crashes is started again, each time a little later', async (t) => {
  const { options, said } = serviceOf(t, stays)
  const pids: number[] = []
  const part = startService({ ...options, onRestart: () => pids.push(part.pid()) })
  t.teardown(() => part.stop())
  t.match(await part.ready, { port: 7 })
  for (const restarts of [1, 2]) {
    process.kill(part.pid(), 'SIGKILL')
    await waitFor(() => said.filter((line) => line.includes('runs again')).length === restarts, { what: 'the restart' })
  }
  t.equal(new Set(pids).size, 2)
  t.match(said[0], 'sample: ended (SIGKILL), starts again in 0.2 s')
  t.match(said[2], 'sample: ended (SIGKILL), starts again in 0.4 s')
  const last = part.pid()
  await part.stop()
  t.throws(() => process.kill(last, 0), { code: 'ESRCH' })
  t.equal(said.length, 4, 'a stop is no crash')
})

t.test('a part is told to stop before it is killed, and stays stopped', async (t) => {
  const { options, directory } = serviceOf(
    t,
    `import { writeFileSync } from 'node:fs'
     process.on('SIGTERM', () => { writeFileSync(new URL('stopped', import.meta.url), ''); process.exit(0) })
     ${stays}`,
  )
  const part = startService({ ...options, onRestart: () => t.fail('stays stopped') })
  t.teardown(() => part.stop())
  await part.ready
  await part.stop()
  t.ok(existsSync(join(directory, 'stopped')))
})

t.test('a program that runs to its end fails with its last complaint', async (t) => {
  const { signal } = new AbortController()
  const good = serviceOf(t, "console.log('done')")
  await runOnce({ ...good.options, signal })
  const bad = serviceOf(
    t,
    "console.log(JSON.stringify({ level: 'error', msg: 'no', err: { message: 'why' } })); process.exit(3)",
  )
  await t.rejects(runOnce({ ...bad.options, signal }), { name: 'StartError', message: 'sample: no: why' })
})

t.test('the terminal shows warnings and worse, once while they repeat; the file has everything', async (t) => {
  const { directory, said, log } = serviceOf(t, '')
  const file = join(directory, 'sample.log')
  const warning = '{"level":"warn","msg":"slow"}\n'
  writeFileSync(
    file,
    `{"level":"info","msg":"ready"}\n${warning}${warning}    at stack (x.js:1)\n{"level":"fatal","msg":"end`,
  )
  t.equal(log.lastWarning(), 'slow')
  t.same(said, ['  sample: slow'])
  writeFileSync(file, 'ed"}\n', { flag: 'a' })
  t.equal(log.lastWarning(), 'ended', 'a line is read when it is whole')
  t.match(readFileSync(file, 'utf8'), 'ready')
})

t.test('a log file is bounded: it moves aside and begins anew', async (t) => {
  const { directory, said } = serviceOf(t, '')
  const file = join(directory, 'sample.log')
  truncateSync(file, 10 * 1024 * 1024)
  await waitFor(() => existsSync(`${file}.1`) && statSync(file).size === 0, { what: 'the rotation' })
  writeFileSync(file, '{"level":"error","msg":"after it"}\n', { flag: 'a' })
  await waitFor(() => said.length === 1, { what: 'the line after the rotation' })
  t.match(said, ['  sample: after it'])
})
