// How far a long command is: one line that changes on a terminal, a line every few seconds elsewhere.
import type { Print } from './printTo.ts'

const onTerminalMs = 200
const nonTerminalMs = 5_000
const toLineStart = '\r\u001b[K'
const barWidth = 20

/** Where progress is written: standard error, in the commands. */
export type CliProgressOutput = { readonly isTTY?: boolean; write(text: string): unknown }

export type CliProgress<State> = {
  show(state: State): void
  /** Takes the line off a terminal, so that something else can be written there. */
  clear(): void
  /** Writes the last state, and leaves the terminal at the beginning of a line. */
  end(): void
}

/**
 * @param inWords one line for a state
 * @param now for tests: a clock in ms
 */
export function createProgress<State extends { readonly phase: string }>(
  output: CliProgressOutput,
  inWords: (state: State, elapsedMs: number) => string,
  now: () => number = () => performance.now(),
): CliProgress<State> {
  const isTerminal = output.isTTY === true
  const everyMs = isTerminal ? onTerminalMs : nonTerminalMs
  let startedAt = 0
  let shownAt = 0
  let last: State | undefined
  /** What `last` says and no line has said yet. */
  let isPending = false

  function write(): void {
    if (last === undefined || !isPending) return
    isPending = false
    const line = inWords(last, now() - startedAt)
    output.write(isTerminal ? `${toLineStart}${line}` : `${line}\n`)
  }
  function end(): void {
    write()
    if (isTerminal && last !== undefined) output.write('\n')
    last = undefined
  }
  return {
    show(state) {
      const time = now()
      if (state.phase !== last?.phase) {
        end()
        startedAt = time
        shownAt = time
      }
      last = state
      isPending = true
      if (time - shownAt < everyMs) return
      shownAt = time
      write()
    },
    clear() {
      if (isTerminal && last !== undefined) output.write(toLineStart)
      isPending = true
    },
    end,
  }
}

/** A command's report. What writes it ends when there is room for more. */
export type ReportWriter = {
  /** Writes a line. */
  readonly say: Print
  /** Writes its end. */
  readonly conclude: Print
}

/** Writes a command's report between the lines of its progress. @param print writes one line of the answer */
export function createReportWriter(progress: Pick<CliProgress<never>, 'clear' | 'end'>, print: Print): ReportWriter {
  return {
    say(line) {
      progress.clear()
      return print(line)
    },
    conclude(text) {
      progress.end()
      return print(text)
    },
  }
}

/** Draws a bar in front of what is said of a part of the whole, from 0 to 1: on a terminal, and nothing elsewhere. */
export function createProgressBar(output: CliProgressOutput): (part: number) => string {
  if (output.isTTY !== true) return () => ''
  return (part) => `[${'='.repeat(Math.round(Math.min(part, 1) * barWidth)).padEnd(barWidth)}] `
}
