// The command line as an operator calls it: a process of its own.
import { spawn } from 'node:child_process'
import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { compileCache } from '@paylog/testing/compileCache'

const main = fileURLToPath(new URL('../main.ts', import.meta.url))

export type Ended = { readonly code: number | null; readonly stdout: string; readonly stderr: string }

export type RunningCommand = {
  readonly pid: number
  /** What it has written to standard output so far. */
  output(): string
  /** And to standard error. */
  errors(): string
  signal(name: NodeJS.Signals): void
  /** Reads no more of what it writes. */
  hangUp(...outputs: ('stdout' | 'stderr')[]): void
  readonly ended: Promise<Ended>
}

type Environment = Readonly<Record<string, string>>

/**
 * @param env the command's whole environment, aside from what makes it start sooner
 * @param input what it gets as standard input; nothing when left out
 */
export function startOps(args: readonly string[], env: Environment = {}, input?: Readable): RunningCommand {
  const child = spawn(process.execPath, [main, ...args], { env: { ...compileCache, ...env }, stdio: 'pipe' })
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
  const ended = new Promise<Ended>((resolve) => child.once('close', (code) => resolve({ code, stdout, stderr })))
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

export const runOps = (args: readonly string[], env?: Environment, input?: Readable) => startOps(args, env, input).ended
