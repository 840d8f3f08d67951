// One run through the commands of the docs: its shell, its results so far, and its failures.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Running, Shell } from './shell.ts'

const pollMs = 200
const timeoutMs = 300_000

export type Visit = {
  readonly shell: Shell
  /** The payment of the tour, for commands with `<id>`. */
  payment: string
  /** A delivery, for commands about webhooks with `<id>`. */
  delivery: string
  /** The running `npm start`. */
  system: Running | undefined
  /** Runs a command. It fails unless its output contains every text of `shows`. Returns the output. */
  run(command: string, shows?: readonly string[]): Promise<string>
  /** Repeats a command that only reads, as a person would, until its output contains a text. Returns the output. */
  runUntilShown(command: string, shown: string): Promise<string>
  /** Waits until a running command has printed a text. */
  await(command: string, running: Running, text: string): Promise<void>
  /** Skips a command and prints the reason. */
  skip(command: string, reason: string): void
  /** Starts a command that keeps running, and waits until it has printed `shown`. */
  start(command: string, shown: string): Promise<Running>
  totals(): { readonly ran: number; readonly failed: number; readonly skipped: number }
}

/** @param print prints a line: one per command, and the output of one that failed */
export function beginVisit(shell: Shell, print: (line: string) => void): Visit {
  let ran = 0
  let failed = 0
  let skipped = 0
  const record = (command: string, failure: string | undefined, output: string) => {
    ran += 1
    const [line = '', ...more] = command.split('\n')
    print(`${failure === undefined ? 'ok  ' : 'FAIL'} ${line}${more.length > 0 ? ` … (${more.length + 1} lines)` : ''}`)
    if (failure === undefined) return
    failed += 1
    print(`     ${failure}`)
    for (const text of output.trimEnd().split('\n')) print(`     | ${text}`)
  }
  return {
    shell,
    payment: '',
    delivery: '',
    system: undefined,
    async run(command, shows = []) {
      const { code, output } = await shell.run(command)
      const missing = shows.filter((text) => !output.includes(text))
      const failure =
        code !== 0 ? `ended with ${code}` : missing.length > 0 ? `does not show ${missing.join(', ')}` : undefined
      record(command, failure, output)
      return output
    },
    async runUntilShown(command, shown) {
      let output = ''
      await waitUntil(async () => {
        ;({ output } = await shell.run(command))
        return output.includes(shown)
      })
      record(command, output.includes(shown) ? undefined : `does not show ${shown}`, output)
      return output
    },
    skip(command, reason) {
      skipped += 1
      print(`skip ${command} (${reason})`)
    },
    async start(command, shown) {
      const running = shell.start(command)
      await this.await(command, running, shown)
      return running
    },
    async await(command, running, text) {
      const isPrinted = () => running.output().includes(text)
      await waitUntil(() => isPrinted() || running.exitCode() !== null)
      record(command, isPrinted() ? undefined : `did not print ${text}`, running.output())
    },
    totals: () => ({ ran, failed, skipped }),
  }
}

async function waitUntil(until: () => boolean | Promise<boolean>): Promise<void> {
  const latest = Date.now() + timeoutMs
  while (!(await until()) && Date.now() < latest) await sleep(pollMs)
}
