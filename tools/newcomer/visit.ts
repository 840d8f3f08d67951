// One run through the commands of the docs: its shell, its results so far, and its failures.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Running, Shell } from './shell.ts'

const lookMs = 200
const patienceMs = 300_000

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
  /** Waits until a running command has printed a text. */
  await(command: string, running: Running, text: string): Promise<void>
  /** Reports why a command is not run. */
  leaveOut(command: string, why: string): void
  /** Starts a command that keeps running, and waits until it has printed `says`. */
  start(command: string, says: string): Promise<Running>
  totals(): { readonly ran: number; readonly failed: number; readonly leftOut: number }
}

/** @param say prints a line: one per command, and the output of one that failed */
export function beginVisit(shell: Shell, say: (line: string) => void): Visit {
  let ran = 0
  let failed = 0
  let leftOut = 0
  const record = (command: string, fault: string | undefined, output: string) => {
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
    delivery: '',
    system: undefined,
    async run(command, shows = []) {
      const { code, output } = await shell.run(command)
      const missing = shows.filter((text) => !output.includes(text))
      const fault =
        code !== 0 ? `ended with ${code}` : missing.length > 0 ? `does not show ${missing.join(', ')}` : undefined
      record(command, fault, output)
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
      await look(() => isThere() || running.exitCode() !== null)
      record(command, isThere() ? undefined : `did not print ${text}`, running.output())
    },
    totals: () => ({ ran, failed, leftOut }),
  }
}

async function look(until: () => boolean): Promise<void> {
  const latest = Date.now() + patienceMs
  while (!until() && Date.now() < latest) await sleep(lookMs)
}
