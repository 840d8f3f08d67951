// What a command shows of its progress, and when: a terminal or none, and a clock that a test moves.
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
    /** What was written since it was taken last. */
    takeWritten() {
      const text = written
      written = ''
      return text
    },
  }
}
