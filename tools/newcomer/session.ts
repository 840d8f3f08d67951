// A terminal of somebody who has just got the project: a folder, a shell, and nothing about Paylog in the environment.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'

export type Ended = { readonly code: number | null; readonly output: string }

export type Running = {
  output(): string
  /** Ctrl-C, which reaches everything that the command has started; and the wait for its end. */
  interrupt(): Promise<void>
  /** Null while it runs. */
  exitCode(): number | null
}

export type Shell = {
  /** Runs lines of shell to their end; stops at the first one that fails. */
  run(lines: string, timeoutMs?: number): Promise<Ended>
  /** Starts a command that goes on, as in a terminal of its own. */
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

// One walk through the README: where it takes place, what it has seen so far, and what went wrong.

const pollMs = 200
const outputTimeoutMs = 300_000

export type Session = {
  readonly shell: Shell
  /** What the tour has made, for the commands that say `<id>`. */
  payment: string
  /** What `npm start` began. */
  system: Running | undefined
  /** Runs a command as printed; `shows` is text that its output has to hold. Returns the output. */
  run(command: string, shows?: readonly string[]): Promise<string>
  /** Looks until a command that goes on has printed something. */
  await(command: string, running: Running, text: string): Promise<void>
  /** Says why a command is not run. */
  leaveOut(command: string, why: string): void
  /** Starts a command as printed in a terminal of its own, and waits for what it says when it is there. */
  start(command: string, says: string): Promise<Running>
  totals(): { readonly ran: number; readonly failed: number; readonly leftOut: number }
}

/** @param say is told of every command, in a line, and of what one that failed has printed */
export function createSession(shell: Shell, say: (line: string) => void): Session {
  let ran = 0
  let failed = 0
  let leftOut = 0
  const report = (command: string, fault: string | undefined, output: string) => {
    ran += 1
    const [line = '', ...more] = command.split('\n')
    say(`${fault === undefined ? 'ok  ' : 'FAIL'} ${line}${more.length > 0 ? ` … (${more.length + 1} lines)` : ''}`)
    if (fault === undefined) return
    failed += 1
    say(`     ${fault}`)
    for (const text of output.trimEnd().split('\n')) say(`     | ${text}`)
  }
  return {
    shell,
    payment: '',
    system: undefined,
    async run(command, shows = []) {
      const { code, output } = await shell.run(command)
      const missing = shows.filter((text) => !output.includes(text))
      const fault =
        code !== 0 ? `ended with ${code}` : missing.length > 0 ? `does not show ${missing.join(', ')}` : undefined
      report(command, fault, output)
      return output
    },
    leaveOut(command, why) {
      leftOut += 1
      say(`left ${command} (${why})`)
    },
    async start(command, says) {
      const running = shell.start(command)
      await this.await(command, running, says)
      return running
    },
    async await(command, running, text) {
      const isThere = () => running.output().includes(text)
      await poll(() => isThere() || running.exitCode() !== null)
      report(command, isThere() ? undefined : `never said ${text}`, running.output())
    },
    totals: () => ({ ran, failed, leftOut }),
  }
}

async function poll(until: () => boolean): Promise<void> {
  const latest = Date.now() + outputTimeoutMs
  while (!until() && Date.now() < latest) await sleep(pollMs)
}
