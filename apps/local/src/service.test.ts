import { existsSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { waitFor } from '@paylog/testing/waitFor'
import t, { type Test } from 'tap'
import { createChildLog } from './childLog.ts'
import { runOnce, startService } from './service.ts'

/** A service that runs the given program. */
function serviceOf(t: Test, program: string) {
  const directory = t.testdir({ 'program.js': program })
  const printed: string[] = []
  const terminal = { print: (text: string) => void printed.push(text) }
  const log = createChildLog({ directory, name: 'sample', terminal })
  t.teardown(() => log.close())
  const options = { name: 'sample', command: [join(directory, 'program.js')], environment: {}, log, terminal }
  return { directory, printed, options, log }
}

const longRunning = "process.send({ type: 'ready', port: 7 }); setInterval(() => undefined, 1000)"

t.test('a service that exits before it is ready rejects with its last error line', async (t) => {
  const { options } = serviceOf(t, "console.error('sample: PORT is required'); process.exit(1)")
  const service = startService({ ...options, onRestart: () => t.fail('a failed first start is not repeated') })
  await t.rejects(service.ready, { name: 'StartError', message: 'sample: PORT is required' })
  await service.stop()
})

t.test('a service that crashes is restarted after a growing delay', async (t) => {
  const { options, printed } = serviceOf(t, longRunning)
  const pids: number[] = []
  const service = startService({ ...options, onRestart: () => pids.push(service.pid()) })
  t.teardown(() => service.stop())
  t.match(await service.ready, { port: 7 })
  for (const restarts of [1, 2]) {
    process.kill(service.pid(), 'SIGKILL')
    await waitFor(() => printed.filter((line) => line.includes('restarted (pid')).length === restarts, {
      what: 'the restart',
    })
  }
  t.equal(new Set(pids).size, 2)
  t.match(printed[0], 'sample: exited (SIGKILL), restarting in 0.2 s')
  t.match(printed[2], 'sample: exited (SIGKILL), restarting in 0.4 s')
  const last = service.pid()
  await service.stop()
  t.throws(() => process.kill(last, 0), { code: 'ESRCH' })
  t.equal(printed.length, 4, 'a stop is not reported as a crash')
})

t.test('stopping a service sends SIGTERM first, and the service is not restarted', async (t) => {
  const { options, directory } = serviceOf(
    t,
    `import { writeFileSync } from 'node:fs'
     process.on('SIGTERM', () => { writeFileSync(new URL('stopped', import.meta.url), ''); process.exit(0) })
     ${longRunning}`,
  )
  const service = startService({ ...options, onRestart: () => t.fail('a stopped service must not restart') })
  t.teardown(() => service.stop())
  await service.ready
  await service.stop()
  t.ok(existsSync(join(directory, 'stopped')))
})

t.test('runOnce rejects with the last error line of a program that fails', async (t) => {
  const { signal } = new AbortController()
  const good = serviceOf(t, "console.log('done')")
  await runOnce({ ...good.options, signal })
  const bad = serviceOf(
    t,
    "console.log(JSON.stringify({ level: 'error', msg: 'no', err: { message: 'why' } })); process.exit(3)",
  )
  await t.rejects(runOnce({ ...bad.options, signal }), { name: 'StartError', message: 'sample: no: why' })
})

t.test('the terminal shows warnings and errors once while they repeat, and the file has every line', async (t) => {
  const { directory, printed, log } = serviceOf(t, '')
  const file = join(directory, 'sample.log')
  const warning = '{"level":"warn","msg":"slow"}\n'
  writeFileSync(
    file,
    `{"level":"info","msg":"ready"}\n${warning}${warning}    at stack (x.js:1)\n{"level":"fatal","msg":"end`,
  )
  t.equal(log.lastWarning(), 'slow')
  t.same(printed, ['  sample: slow'])
  writeFileSync(file, 'ed"}\n', { flag: 'a' })
  t.equal(log.lastWarning(), 'ended', 'a line is read when it is complete')
  t.match(readFileSync(file, 'utf8'), 'ready')
})

t.test('a log file that reaches its size limit is rotated', async (t) => {
  const { directory, printed } = serviceOf(t, '')
  const file = join(directory, 'sample.log')
  truncateSync(file, 10 * 1024 * 1024)
  await waitFor(() => existsSync(`${file}.1`) && statSync(file).size === 0, { what: 'the rotation' })
  writeFileSync(file, '{"level":"error","msg":"after it"}\n', { flag: 'a' })
  await waitFor(() => printed.length === 1, { what: 'the line after the rotation' })
  t.match(printed, ['  sample: after it'])
})
