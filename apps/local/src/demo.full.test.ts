import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isAlive } from '@paylog/runtime/process/isAlive'
import { type Runtime, readRuntime } from '@paylog/runtime/process/runtimeFile'
import { compileCache } from '@paylog/testing/testEnvironment'
import { waitFor } from '@paylog/testing/waitFor'
import t, { type Test } from 'tap'

const script = fileURLToPath(new URL('./demo.ts', import.meta.url))

/** Runs the demo with its own TMPDIR, so that leftovers can be listed. */
function startDemo(t: Test, env: Record<string, string> = {}) {
  const outer = mkdtempSync(join(tmpdir(), 'paylog-demo-test-'))
  const directory = join(outer, 'tmp')
  mkdirSync(directory)
  const child = spawn(process.execPath, [script], {
    env: { PATH: process.env.PATH, ...compileCache, TMPDIR: directory, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const exited = once(child, 'close')
  t.teardown(async () => {
    child.kill('SIGTERM')
    await exited
    rmSync(outer, { recursive: true, force: true })
  })
  let output = ''
  const collect = (text: string) => {
    output += text
  }
  child.stdout.setEncoding('utf8').on('data', collect)
  child.stderr.setEncoding('utf8').on('data', collect)
  return { child, directory, exited, output: () => output }
}

t.test('the demo follows one payment from its creation to its webhooks and deletes its data', async (t) => {
  // Variables of a real system must not affect the demo.
  const demo = startDemo(t, { EVENTSTORE_URL: 'nonsense', WEBHOOK_2_ENABLED: 'nonsense', PORT: '1' })
  const [code] = await demo.exited
  t.equal(code, 0, demo.output())
  for (const event of ['PaymentInitiated', 'ProviderIntentCreated', 'PaymentSucceeded']) t.match(demo.output(), event)
  t.match(demo.output(), /payment\.created +pending +22\.00 EUR +verified/)
  t.match(demo.output(), /payment\.succeeded +succeeded +22\.00 EUR +verified/)
  t.same(readdirSync(demo.directory), [])
})

t.test('an interrupted demo stops its processes and deletes its data', async (t) => {
  const demo = startDemo(t)
  const startedProcesses = (): Runtime['parts'] | undefined => {
    const [name] = readdirSync(demo.directory)
    const parts = name === undefined ? undefined : readRuntime(join(demo.directory, name))?.parts
    return parts?.length ? parts : undefined
  }
  const parts = await waitFor(startedProcesses, { what: 'the first processes of the demo' })
  demo.child.kill('SIGINT')
  t.same(await demo.exited, [130, null])
  t.same(
    parts.filter(({ pid }) => isAlive(pid)),
    [],
  )
  t.same(readdirSync(demo.directory), [])
})
