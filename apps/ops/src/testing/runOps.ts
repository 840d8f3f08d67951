// The command line as an operator calls it: in this process, or where it is to be interrupted in one of its own.
import { spawn } from 'node:child_process'
import { PassThrough, Readable, Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { compileCache } from '@paylog/testing/testEnvironment'
import type { Test } from 'tap'
import type { CommandContext } from '../command.ts'
import { runCommandLine } from '../commandLine.ts'

const main = fileURLToPath(new URL('../main.ts', import.meta.url))

export type CommandResult = { readonly code: number | null; readonly stdout: string; readonly stderr: string }

export type RunningCommand = {
  readonly pid: number
  /** What it has written to standard output so far. */
  output(): string
  /** And to standard error. */
  errors(): string
  signal(name: NodeJS.Signals): void
  /** Reads no more of what it writes. */
  hangUp(...outputs: ('stdout' | 'stderr')[]): void
  readonly ended: Promise<CommandResult>
}

type Environment = Readonly<Record<string, string>>

/**
 * Starts a process, which is gone when the test is over.
 * @param env the command's whole environment, aside from what makes it start sooner
 * @param input what it gets as standard input; nothing when left out
 */
export function startOps(t: Test, args: readonly string[], env: Environment = {}, input?: Readable): RunningCommand {
  const child = spawn(process.execPath, [main, ...args], { env: { ...compileCache, ...env }, stdio: 'pipe' })
  t.teardown(() => void child.kill('SIGKILL'))
  // Whether it reads all of it is the command's affair.
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

/** Runs a command to its end. @param env its whole environment @param input standard input; nothing when left out */
export async function runOps(args: readonly string[], env: Environment = {}, input?: Readable): Promise<CommandResult> {
  const [output, errors] = [collector(), collector()]
  const code = await runCommandLine(args, {
    environment: env,
    // As bytes, which is how a process gets it.
    input: (input ?? Readable.from([])).pipe(new PassThrough()),
    output: output.stream,
    errors: errors.stream,
  })
  return { code, stdout: output.text(), stderr: errors.text() }
}

/** What a command is given that is called by itself, and tells its answer to `print`. */
export function contextOf({ environment, print }: Pick<CommandContext, 'environment' | 'print'>): CommandContext {
  return { environment, print, input: Readable.from([]), output: collector().stream, errors: collector().stream }
}

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
