// Runs the command line, in this process or in a child process.
import { spawn } from 'node:child_process'
import { PassThrough, Readable, Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { testMasterKey } from '@paylog/testing/dataKeys'
import { moduleLoading } from '@paylog/testing/testEnvironment'
import type { Test } from 'tap'
import { runCommandLine } from '../commandLine.ts'

const main = fileURLToPath(new URL('../main.ts', import.meta.url))

export type CommandResult = { readonly code: number | null; readonly stdout: string; readonly stderr: string }

export type RunningCommand = {
  readonly pid: number
  /** Standard output so far. */
  output(): string
  /** Standard error so far. */
  errors(): string
  signal(name: NodeJS.Signals): void
  /** Stops reading its output. */
  hangUp(...outputs: ('stdout' | 'stderr')[]): void
  readonly ended: Promise<CommandResult>
}

export type Environment = Readonly<Record<string, string>>

/** Of the keys that test event stores have. */
const masterKey: Environment = { PII_MASTER_KEY: testMasterKey }

/**
 * Starts a process, which is killed at the end of the test.
 * @param env the whole environment of the command, apart from the compile cache
 * @param input standard input, empty by default
 */
export function startOps(t: Test, args: readonly string[], env: Environment = {}, input?: Readable): RunningCommand {
  const child = spawn(process.execPath, [main, ...args], {
    env: { ...moduleLoading, ...masterKey, ...env },
    stdio: 'pipe',
  })
  t.teardown(() => void child.kill('SIGKILL'))
  // The command may exit before it has read everything.
  child.stdin.on('error', () => {})
  if (input === undefined) child.stdin.end()
  else input.pipe(child.stdin)
  let stdout = ''
  let stderr = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
  })
  const ended = new Promise<CommandResult>((resolve) =>
    child.once('close', (code) => resolve({ code, stdout, stderr })),
  )
  return {
    pid: child.pid ?? 0,
    output: () => stdout,
    errors: () => stderr,
    signal: (name) => void child.kill(name),
    hangUp(...outputs) {
      for (const output of outputs) child[output].destroy()
    },
    ended,
  }
}

/** Runs a command in this process. @param env its whole environment @param input standard input, empty by default */
export async function runOps(args: readonly string[], env: Environment = {}, input?: Readable): Promise<CommandResult> {
  const [output, errors] = [collector(), collector()]
  const code = await runCommandLine(args, {
    environment: { ...masterKey, ...env },
    // As bytes, like the stdin of a process.
    input: (input ?? Readable.from([])).pipe(new PassThrough()),
    output: output.stream,
    errors: errors.stream,
  })
  return { code, stdout: output.text(), stderr: errors.text() }
}

/** The objects that a command has printed, one a line. */
export const jsonLines = ({ stdout }: CommandResult) =>
  stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))

function collector() {
  const chunks: Buffer[] = []
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      chunks.push(chunk)
      done()
    },
  })
  return { stream, text: () => Buffer.concat(chunks).toString() }
}
