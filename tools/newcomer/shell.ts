// A shell in a folder, with none of our variables in its environment.
import { spawn } from 'node:child_process'
import { once } from 'node:events'

export type Ended = { readonly code: number | null; readonly output: string }

export type Running = {
  output(): string
  /** Sends Ctrl-C to the command and everything it started, and waits for its end. */
  interrupt(): Promise<void>
  /** Null while it runs. */
  exitCode(): number | null
}

export type Shell = {
  /** Runs lines of shell; stops at the first one that fails. */
  run(lines: string, timeoutMs?: number): Promise<Ended>
  /** Starts a command that keeps running. */
  start(command: string): Running
}

const defaultTimeoutMs = 180_000

/** @param env of everything that is run */
export function openShell(directory: string, env: NodeJS.ProcessEnv): Shell {
  const start = (command: string) => {
    const child = spawn('sh', ['-e', '-c', command], {
      cwd: directory,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    })
    let output = ''
    const collect = (text: string) => {
      output += text
    }
    child.stdout.setEncoding('utf8').on('data', collect)
    child.stderr.setEncoding('utf8').on('data', collect)
    const closed = once(child, 'close')
    const signal = (name: NodeJS.Signals) => {
      if (child.pid !== undefined && child.exitCode === null && child.signalCode === null)
        process.kill(-child.pid, name)
    }
    return { child, closed, signal, output: () => output }
  }
  return {
    async run(lines, timeoutMs = defaultTimeoutMs) {
      const { child, closed, signal, output } = start(lines)
      const timer = setTimeout(() => signal('SIGKILL'), timeoutMs)
      await closed
      clearTimeout(timer)
      return { code: child.exitCode, output: output() }
    },
    start(command) {
      const { child, closed, signal, output } = start(command)
      return {
        output,
        exitCode: () => child.exitCode,
        async interrupt() {
          signal('SIGINT')
          await closed
        },
      }
    },
  }
}
