// Runs `npm run demo` as a process.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { moduleLoading } from '@paylog/testing/testEnvironment'
import type { Test } from 'tap'

const script = fileURLToPath(new URL('../demo.ts', import.meta.url))

/** Runs the demo with its own TMPDIR, so that leftovers can be listed. @param given `path` is the variable PATH */
export function startDemo(
  t: Test,
  given: {
    readonly path: string | undefined
    readonly env?: Readonly<Record<string, string>>
    readonly args?: readonly string[]
  },
) {
  const { path, env = {}, args = [] } = given
  const outer = mkdtempSync(join(tmpdir(), 'paylog-demo-test-'))
  const directory = join(outer, 'tmp')
  mkdirSync(directory)
  const child = spawn(process.execPath, [script, ...args], {
    env: { PATH: path, ...moduleLoading, TMPDIR: directory, ...env },
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
