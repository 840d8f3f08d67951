// The command line as an operator calls it: a process of its own.
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const main = fileURLToPath(new URL('../main.ts', import.meta.url))

export type Ended = { readonly code: number | null; readonly stdout: string; readonly stderr: string }

export type RunningCommand = {
  /** What it has written to standard output so far. */
  output(): string
  /** And to standard error. */
  errors(): string
  signal(name: NodeJS.Signals): void
  readonly ended: Promise<Ended>
}

/** @param env the command's whole environment */
export function startOps(args: readonly string[], env: Readonly<Record<string, string>> = {}): RunningCommand {
  const child = spawn(process.execPath, [main, ...args], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let stdout = ''
  let stderr = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
  })
  const ended = new Promise<Ended>((resolve) => child.once('close', (code) => resolve({ code, stdout, stderr })))
  return { output: () => stdout, errors: () => stderr, signal: (name) => void child.kill(name), ended }
}

export const runOps = (args: readonly string[], env?: Readonly<Record<string, string>>) => startOps(args, env).ended
