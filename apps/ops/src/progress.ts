// Shows the progress of a long command: one changing line on a terminal, a new line every few seconds elsewhere.
import type { Print } from './printTo.ts'

const onTerminalMs = 200
const nonTerminalMs = 5_000
const toLineStart = '\r\u001b[K'
const barWidth = 20

/** Standard error, in the commands. */
export type CliProgressOutput = { readonly isTTY?: boolean; write(text: string): unknown }

export type CliProgress<State> = {
  show(state: State): void
  /** Clears the line on a terminal, before other output. */
  clear(): void
  /** Shows the last state and ends the line. */
  end(): void
}

/**
 * @param inWords the text for a state
 * @param now for tests: a clock in ms
 */
export function createProgress<State extends { readonly phase: string }>(
  output: CliProgressOutput,
  toText: (state: State, elapsedMs: number) => string,
  now: () => number = () => performance.now(),
): CliProgress<State> {
  const isTerminal = output.isTTY === true
  const everyMs = isTerminal ? onTerminalMs : nonTerminalMs
  let startedAt = 0
  let shownAt = 0
  let last: State | undefined
  /** Whether `last` has not been shown yet. */
  let isPending = false

  function write(): void {
    if (last === undefined || !isPending) return
    isPending = false
    const line = toText(last, now() - startedAt)
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

/** Its functions resolve when the stream has space for more. */
export type ReportWriter = {
  /** Writes a line of the report. */
  readonly writeLine: Print
  /** Writes the last line of the report. */
  readonly conclude: Print
}

/** Writes a report between progress updates. @param print writes one line of output */
export function createReportWriter(progress: Pick<CliProgress<never>, 'clear' | 'end'>, print: Print): ReportWriter {
  return {
    writeLine(line) {
      progress.clear()
      return print(line)
    },
    conclude(text) {
      progress.end()
      return print(text)
    },
  }
}

/** A progress bar for a fraction from 0 to 1, on a terminal only. */
export function createProgressBar(output: CliProgressOutput): (part: number) => string {
  if (output.isTTY !== true) return () => ''
  return (part) => `[${'='.repeat(Math.round(Math.min(part, 1) * barWidth)).padEnd(barWidth)}] `
}
