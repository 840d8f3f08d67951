// How far a copy is: one line that changes on a terminal, a line every few seconds elsewhere.
import type { CopyProgress } from '@paylog/event-store/copy-log/copyLog'

const onTerminalMs = 200
const elsewhereMs = 5_000

/** Where progress is written: standard error, in the command. */
export type ProgressOutput = { readonly isTTY?: boolean; write(text: string): unknown }

const titles = { survey: 'Looking', copy: 'Copying', verification: 'Comparing' } as const

export function createProgress(output: ProgressOutput, now: () => number = () => performance.now()) {
  const isTerminal = output.isTTY === true
  const everyMs = isTerminal ? onTerminalMs : elsewhereMs
  let phase: CopyProgress['phase'] | undefined
  let startedAt = 0
  let shownAt = 0
  let last: CopyProgress | undefined
  /** What `last` says and no line has said yet. */
  let isUnsaid = false

  function write(): void {
    if (last === undefined || !isUnsaid) return
    isUnsaid = false
    const line = inWords(last, now() - startedAt)
    output.write(isTerminal ? `\r\u001b[K${line}` : `${line}\n`)
  }
  function endPhase(): void {
    write()
    if (isTerminal && last !== undefined) output.write('\n')
    last = undefined
  }
  return {
    show(progress: CopyProgress): void {
      const time = now()
      if (progress.phase !== phase) {
        endPhase()
        phase = progress.phase
        startedAt = time
        shownAt = time
      }
      last = progress
      isUnsaid = true
      if (time - shownAt < everyMs) return
      shownAt = time
      write()
    },
    /** Writes the last state, and leaves the terminal at the beginning of a line. */
    end: endPhase,
  }
}

function inWords({ phase, events, of, position }: CopyProgress, elapsedMs: number): string {
  const rate = elapsedMs > 0 ? `, ${Math.round((events * 1_000) / elapsedMs)}/s` : ''
  const total = of === undefined ? '' : ` of ${of}`
  return `${titles[phase]}: ${events}${total} events${rate}, at position ${position.commit}`
}
