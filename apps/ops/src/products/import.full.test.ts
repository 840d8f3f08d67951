// The input of `products import`, and imports that are killed, interrupted, or without an event store.
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough, Readable } from 'node:stream'
import { waitFor } from '@paylog/testing/waitFor'
import t from 'tap'
import { assertCompletes, importHarness, someLine, startHalfwayImport } from '../testing/importHarness.ts'
import { jsonLines, runOps } from '../testing/runOps.ts'

const { log, env, file, start, history } = await importHarness(t)

t.test('a file without lines is imported without an error', async (t) => {
  const cases = [
    ['', '0 lines: 0 added, 0 changed, 0 unchanged, 0 rejected.\n'],
    ['\ufeff', '1 line: 0 added, 0 changed, 0 unchanged, 0 rejected, 1 empty.\n'],
    ['\r\n \n', '2 lines: 0 added, 0 changed, 0 unchanged, 0 rejected, 2 empty.\n'],
  ] as const
  for (const [content, stdout] of cases)
    t.match(await runOps(['products', 'import', file(content)], env), { code: 0, stdout })
})

t.test('standard input is imported while it arrives', async (t) => {
  const id = randomUUID()
  const ended = await runOps(['products', 'import', '-'], env, Readable.from([someLine({ id }), '\n{\n', someLine()]))
  t.match(ended, { code: 2, stdout: 'line 2: The line is not valid JSON\n3 lines: 2 added,' })
  t.match(ended.stderr, /^Importing: 3 lines, \d+\/s\n/)
  t.same(await history(id), ['ProductAdded'])

  const open = new PassThrough()
  const waiting = start('-', { input: open })
  open.write(`${someLine()}\n{\n${someLine().slice(0, -1)}`)
  await waitFor(() => waiting.output().includes('line 2'), { what: 'the report', timeoutMs: 30_000 })
  waiting.signal('SIGINT')
  t.match(await waiting.ended, {
    code: 1,
    stdout: 'line 2: The line is not valid JSON\n2 lines: 1 added, 0 changed, 0 unchanged, 1 rejected.\n',
    stderr: 'Interrupted. Every line up to 2 is done. Import the file again: nothing is added twice.\n',
  })
})

t.test('a file that cannot be read fails with one line', async (t) => {
  const missing = join(env.DATA_DIR, 'none.ndjson')
  const cases = [
    [missing, `${missing} does not exist\n`],
    [env.DATA_DIR, `\n${env.DATA_DIR} is a directory. `],
    [join(file(''), 'x'), /x cannot be read: ENOTDIR.*\n$/],
  ] as const
  for (const [path, stderr] of cases) t.match(await runOps(['products', 'import', path], env), { code: 1, stderr })
  // Reading its first bytes fails: they belong to no page.
  const broken = await runOps(['products', 'import', '/proc/self/mem', '--json'], env)
  t.match(broken, {
    code: 1,
    stderr:
      /^Importing: 0 lines.*\n\/proc\/self\/mem cannot be read: EIO.*\. It is not known whether any line was imported\. Import/,
  })
  const nothing = { lines: 0, added: 0, changed: 0, unchanged: 0, rejected: 0, empty: 0 }
  t.same(jsonLines(broken), [{ ...nothing, complete: false, last_line: 0 }])
})

t.test('an endless input does not keep the import running when the event store fails', async (t) => {
  const input = new PassThrough()
  const running = start('-', { input })
  input.write(`${someLine()}\n{\n`)
  await waitFor(() => running.output().includes('line 2'), { what: 'the report', timeoutMs: 30_000 })
  await log.kill()
  input.write(`${someLine()}\n`)
  t.match(await running.ended, { code: 1, stdout: '\n2 lines: 1 added', stderr: 'Every line up to 2 is done.' })
})

t.test('an import that is killed and repeated creates each product once', async (t) => {
  const harness = await startHalfwayImport(t, 1_000)
  harness.running.signal('SIGKILL')
  t.match(await harness.running.ended, { code: null })
  const { size } = harness
  const there = (await harness.additions()).size
  t.ok(there >= size / 2 && there < size, `${there} products were there`)
  await assertCompletes(t, harness)
})

t.test('an interrupted import finishes the lines under way and reports the last one', async (t) => {
  const harness = await startHalfwayImport(t, 1_000)
  const { size } = harness
  harness.running.signal('SIGINT')
  const { code, stdout, stderr } = await harness.running.ended
  t.equal(code, 1)
  const last = Number(/Interrupted\. Every line up to (\d+) is done\./.exec(stderr)?.[1])
  t.ok(last > size / 2 && last < size, `line ${last} was the last one`)
  t.match(stdout, `\n${last} lines: ${last - 1} added, 0 changed, 0 unchanged, 1 rejected.\n`)
  t.equal((await harness.additions()).size, last - 1, 'no product beyond the reported line was created')
  await assertCompletes(t, harness)
})

t.test('an event store that fails stops the import, and a repetition completes it', async (t) => {
  const harness = await startHalfwayImport(t, 1_000)
  const { size } = harness
  await harness.log.kill()
  const { code, stdout, stderr } = await harness.running.ended
  t.equal(code, 1)
  const report = /\nThe event store .*\. Every line up to (\d+) is done\. Import the file again: .*\n$/.exec(stderr)
  const last = Number(report?.[1])
  t.ok(last > size / 2 && last < size, `line ${last} was the last one`)
  t.match(stdout, `\n${last} lines: ${last - 1} added, 0 changed, 0 unchanged, 1 rejected.\n`)
  await harness.log.start()
  const names = new Set((await harness.events()).map(({ data }) => 'name' in data && data.name))
  const lines = readFileSync(harness.path, 'utf8').split('\n').slice(0, last)
  t.ok(
    lines.filter((line) => line !== '{').every((line) => names.has(JSON.parse(line).name)),
    'the reported lines are imported',
  )
  await assertCompletes(t, harness)
})

t.test('products import without an event store fails before the first line', async (t) => {
  const harness = await importHarness(t)
  await harness.log.kill()
  t.same(await harness.run([someLine()]), {
    code: 1,
    stdout: '',
    stderr: 'The event store cannot be read at the moment (event_store_unavailable)\n',
  })
})
