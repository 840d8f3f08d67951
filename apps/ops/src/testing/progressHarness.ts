// Captures the progress output of a command, with a fake clock and with or without a terminal.
import type { CliProgress, CliProgressOutput } from '../progress.ts'

export function progressHarness<State>(
  create: (output: CliProgressOutput, now: () => number) => CliProgress<State>,
  { isTTY }: { readonly isTTY: boolean },
) {
  let written = ''
  let time = 0
  const output = {
    isTTY,
    write(text: string) {
      written += text
    },
  }
  const { show, clear, end } = create(output, () => time)
  return {
    show(atMs: number, state: State) {
      time = atMs
      show(state)
    },
    clear,
    end,
    /** The output since the last call. */
    takeWritten() {
      const text = written
      written = ''
      return text
    },
  }
}
