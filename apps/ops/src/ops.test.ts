import { mkdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { reachableUrl } from '@paylog/runtime/process/reachableUrl'
import { readRuntime, removeRuntime, writeRuntime } from '@paylog/runtime/process/runtimeFile'
import { table } from '@paylog/runtime/process/table'
import t from 'tap'
import { commands } from './commandLine.ts'
import { completeEnvironment, findRunningSystem } from './runningSystem.ts'
import { runOps } from './testing/runOps.ts'

const runtime = {
  pid: process.pid,
  started_at: '2026-11-01T00:00:00.000Z',
  base_url: 'http://127.0.0.1:8080',
  environment: { EVENTSTORE_URL: 'esdb://127.0.0.1:2113', PORT: '8080' },
  parts: [],
}

t.test('an invalid command line exits 2 and shows the usage', async (t) => {
  const wrong = [
    { args: [], expected: 'Usage: npm run -s ops -- COMMAND' },
    { args: ['streams', 'write'], expected: 'Unknown command: streams write' },
    { args: ['streams', 'read', 'a', '--colour'], expected: "Unknown option '--colour'" },
    { args: ['sandbox', 'settle', 'a', 'maybe'], expected: 'The outcome must be one of succeeded' },
  ]
  for (const { args, expected } of wrong) {
    const ended = await runOps(args)
    t.equal(ended.code, 2, args.join(' '))
    t.match(ended.stderr, expected)
    t.match(ended.stderr, 'Usage: npm run -s ops --')
    t.equal(ended.stdout, '')
  }
})

const commandsIn = (text: string) => [...text.matchAll(/^ {2}(\w+ \w+)/gm)].map(([, name]) => name)
const webhookCommands = ['list', 'redeliver', 'backfill', 'enable', 'start'].map((name) => `webhooks ${name}`)

t.test('the name of a group prints the commands of the group', async (t) => {
  const half = await runOps(['webhooks'])
  t.strictSame([half.code, half.stdout, commandsIn(half.stderr)], [2, '', webhookCommands])
  t.notMatch(half.stderr, 'Unknown')
  const wrong = await runOps(['webhooks', 'lst', '--json'])
  t.strictSame([wrong.code, wrong.stdout, commandsIn(wrong.stderr)], [2, '', webhookCommands])
  t.match(wrong.stderr, /^Unknown command: webhooks lst\n/)
  t.match((await runOps(['webhook'])).stderr, /^Unknown command: webhook\n(.*\n)+ {2}streams read STREAM/)
})

t.test('--help prints to stdout and exits 0', async (t) => {
  for (const args of [['--help'], ['-h'], ['help'], ['product', '--help']])
    t.match(await runOps(args), { code: 0, stdout: /streams read STREAM/, stderr: '' }, args.join(' '))
  for (const args of [
    ['webhooks', '--help'],
    ['webhooks', 'none', '-h'],
  ]) {
    const { code, stdout, stderr } = await runOps(args)
    t.strictSame([code, commandsIn(stdout), stderr], [0, webhookCommands, ''], args.join(' '))
  }
  t.match(await runOps(['migrate', '--help']), { code: 0, stdout: /^Usage: npm run -s ops -- migrate \[--json\]\n/ })
  t.same(await runOps(['help', 'webhooks', 'enable']), await runOps(['webhooks', 'enable', '--help']))
  t.same(await runOps(['help', 'webhooks']), await runOps(['webhooks', '--help']))
})

t.test('the help of each command has its summary and explains every option of its usage', async (t) => {
  for (const [name, load] of Object.entries(commands)) {
    const { usage, summary } = await load()
    const { code, stdout, stderr } = await runOps([...name.split(' '), '--help'])
    t.same([code, stderr], [0, ''], name)
    t.ok(stdout.startsWith(`Usage: npm run -s ops -- ${name}`), name)
    t.match(stdout, `\n${summary}.\n`, name)
    for (const [option] of usage.matchAll(/--[a-z-]+/g))
      t.match(stdout, new RegExp(`^ {2}${option}\\b`, 'm'), `${name} ${option}`)
  }
})

t.test('--version prints the version of Paylog, also after a command', async (t) => {
  for (const args of [['--version'], ['migrate', '--version']])
    t.same(await runOps(args), { code: 0, stdout: 'paylog 1.0.0\n', stderr: '' }, args.join(' '))
})

t.test('a missing variable without a running system is named in one line', async (t) => {
  const DATA_DIR = t.testdir()
  t.match(await runOps(['streams', 'read', 'payment-1'], { DATA_DIR }), {
    code: 1,
    stderr:
      `Bad configuration: EVENTSTORE_URL is required (no local system runs on ${DATA_DIR}; ` +
      'if it runs on another directory, set DATA_DIR)\n',
  })
  const unreachable = await runOps(['migrate'], { DATA_DIR, DATABASE_URL: 'postgres://127.0.0.1:1/none' })
  t.match(unreachable, { code: 1, stderr: 'Postgres cannot be reached: connect ECONNREFUSED 127.0.0.1:1\n' })
})

t.test('unset variables are taken from a running system, but not from a killed one', (t) => {
  const DATA_DIR = t.testdir()
  writeRuntime(DATA_DIR, runtime)
  const found = findRunningSystem({ DATA_DIR })
  t.match(found, { directory: DATA_DIR, runtime })
  t.same(completeEnvironment({ PORT: '9000', EVENTSTORE_URL: '' }, found.runtime), {
    EVENTSTORE_URL: 'esdb://127.0.0.1:2113',
    PORT: '9000',
  })
  // No process has this id: it is above the maximum of Linux.
  writeRuntime(DATA_DIR, { ...runtime, pid: 2 ** 22 + 1 })
  t.equal(findRunningSystem({ DATA_DIR }).runtime, undefined)
  t.end()
})

t.test('runtime.json is readable by its owner only, and a broken or missing one counts as no system', (t) => {
  const directory = t.testdir()
  writeRuntime(directory, runtime)
  t.equal(statSync(join(directory, 'runtime.json')).mode & 0o777, 0o600)
  t.same(readRuntime(directory), runtime)
  writeFileSync(join(directory, 'runtime.json'), '{"pid":')
  t.equal(readRuntime(directory), undefined)
  removeRuntime(directory)
  t.equal(readRuntime(directory), undefined)
  mkdirSync(join(directory, 'runtime.json'))
  t.throws(() => readRuntime(directory))
  t.end()
})

t.test('reachableUrl uses the loopback interface for a server that listens on all', (t) => {
  t.equal(reachableUrl('0.0.0.0', 80), 'http://127.0.0.1:80')
  t.equal(reachableUrl('::', 80), 'http://[::1]:80')
  t.equal(reachableUrl('192.0.2.1', 8080), 'http://192.0.2.1:8080')
  t.end()
})

t.test('table columns are as wide as their widest cell', (t) => {
  t.equal(table(['a', 'longer'], [['cell', 'x'], ['y']]), '  a     longer\n  ----  ------\n  cell  x\n  y')
  t.end()
})
