// The input of `products import`.
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { PassThrough, Readable } from 'node:stream'
import { gzipSync } from 'node:zlib'
import { waitFor } from '@paylog/testing/waitFor'
import t from 'tap'
import { importHarness, importReport, someLine } from '../testing/importHarness.ts'
import { runOps } from '../testing/runOps.ts'
import { maxLineBytes } from './productLine.ts'

const { log, env, file, start, history } = await importHarness(t)

t.test('a line has at most 256 KiB of UTF-8', async (t) => {
  const filled = (bytes: number) => {
    const line = someLine({ description: '\u00e9'.repeat(1_000) })
    return `${line.slice(0, -1)}${' '.repeat(bytes - Buffer.byteLength(line))}}`
  }
  const content = Buffer.concat([
    Buffer.from(`\ufeff${filled(maxLineBytes)}\r\n${filled(maxLineBytes + 1)}\r\n${filled(maxLineBytes)}\n`),
    Buffer.from('{"name":"Caf\u00e9"}\n', 'latin1'),
    Buffer.from(filled(maxLineBytes + 1)),
  ])
  const ended = await runOps(['products', 'import', file(content)], env)
  t.same(ended.stdout.split('\n').slice(0, 4), [
    'line 2: The line is longer than 262144 bytes',
    'line 4: The line is not valid UTF-8',
    'line 5: The line is longer than 262144 bytes',
    '5 lines: 2 added, 0 changed, 0 unchanged, 3 rejected.',
  ])
})

t.test('a file without lines is imported without an error', async (t) => {
  const cases = [
    ['', '0 lines: 0 added, 0 changed, 0 unchanged, 0 rejected.\n'],
    ['\ufeff', '1 line: 0 added, 0 changed, 0 unchanged, 0 rejected, 1 empty.\n'],
    ['\r\n \n', '2 lines: 0 added, 0 changed, 0 unchanged, 0 rejected, 2 empty.\n'],
  ] as const
  for (const [content, stdout] of cases)
    t.match(await runOps(['products', 'import', file(content)], env), { code: 0, stdout })
})

t.test('invalid lines do not affect the others in any kind of file', async (t) => {
  const id = randomUUID()
  const array = await runOps(['products', 'import', file(`[\n${someLine()},\n${someLine({ id })}\n]\n`)], env)
  t.match(array, {
    code: 2,
    stdout:
      [1, 2, 4].map((line) => `line ${line}: The line is not valid JSON\n`).join('') +
      '4 lines: 1 added, 0 changed, 0 unchanged, 3 rejected.\n',
  })
  t.equal((await history(id)).length, 1)
  const packed = gzipSync(`${someLine()}\n`)
  const report = importReport(await runOps(['products', 'import', file(packed), '--json'], env))
  t.match(report[0], { line: 1, error: { code: 'invalid_request', message: 'The line is not valid UTF-8' } })
  t.match(report.at(-1), { complete: true, added: 0 })
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
  t.same(importReport(broken), [{ ...nothing, complete: false, last_line: 0 }])
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
