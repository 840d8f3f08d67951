// Shows the progress of a long command: one changing line on a terminal, a new line every few seconds elsewhere.
const onTerminalMs = 200
const nonTerminalMs = 5_000
/** A step without numbers shows the elapsed time. */
const tickMs = 1_000
const toLineStart = '\r\u001b[K'
const barWidth = 20

/** Standard error, in the commands. */
export type CliProgressOutput = { readonly isTTY?: boolean; write(text: string): unknown }

export type Progress = {
  /** Such as `Exporting`. Another step begins a new line. */
  readonly step: string
  /** So far, in `unit`. Without it the elapsed time is shown. */
  readonly done?: number
  /** `events` */
  readonly unit?: string
  /** The whole number, if it is known. */
  readonly of?: number
  /** How much of the step is done, from 0 to 1, if `of` does not say it. */
  readonly part?: number | undefined
  /** What else there is to say: `7 missing deliveries`. */
  readonly also?: string
}

export type ProgressLine = {
  show(state: Progress): void
  /** Clears the line on a terminal, before other output. */
  clear(): void
  /** Shows the last state and ends the line. */
  end(): void
}

/** @param now for tests: a clock in ms */
export function createProgressLine(
  output: CliProgressOutput,
  now: () => number = () => performance.now(),
): ProgressLine {
  const isTerminal = output.isTTY === true
  const everyMs = isTerminal ? onTerminalMs : nonTerminalMs
  let first: Progress | undefined
  let last: Progress | undefined
  let startedAt = 0
  let shownAt = 0
  /** Whether `last` has not been shown yet. */
  let isPending = false
  let ticking: NodeJS.Timeout | undefined

  function write(): void {
    if (first === undefined || last === undefined || !isPending) return
    isPending = false
    const line = progressText(last, { first, elapsedMs: now() - startedAt, hasBar: isTerminal })
    output.write(isTerminal ? `${toLineStart}${line}` : `${line}\n`)
  }
  function end(): void {
    clearInterval(ticking)
    ticking = undefined
    write()
    if (isTerminal && last !== undefined) output.write('\n')
    last = undefined
  }
  function show(state: Progress): void {
    const time = now()
    if (state.step !== last?.step) {
      end()
      first = state
      startedAt = time
      shownAt = time
    }
    last = state
    isPending = true
    if (state.done === undefined) ticking ??= setInterval(() => last && show(last), tickMs).unref()
    if (time - shownAt < everyMs) return
    shownAt = time
    write()
  }
  return {
    show,
    clear() {
      if (isTerminal && last !== undefined) output.write(toLineStart)
      isPending = true
    },
    end,
  }
}

type Shown = { readonly first: Progress; readonly elapsedMs: number; readonly hasBar: boolean }

function progressText(state: Progress, { first, elapsedMs, hasBar }: Shown): string {
  const { step, done, of, unit = '', also } = state
  if (done === undefined) return `${step}: ${Math.round(elapsedMs / 1_000)} s`
  const part = partOf(state)
  // What an interrupted run had done before says nothing about the speed of this one.
  const [doneBefore, partBefore] = [first.done ?? 0, partOf(first) ?? 0]
  const counted = `${done}${of === undefined ? '' : ` of ${of}`} ${unit}`.trimEnd()
  const texts = [
    part === undefined ? '' : `${hasBar ? bar(part) : ''}${Math.floor(part * 100)} %`,
    counted,
    elapsedMs > 0 && done > doneBefore ? `${Math.round(((done - doneBefore) * 1_000) / elapsedMs)}/s` : '',
    also,
    part === undefined ? '' : timeLeft((part - partBefore) / (1 - partBefore), elapsedMs),
  ]
  return `${step}: ${texts.filter(Boolean).join(', ')}`
}

/** From 0 to 1. */
const partOf = ({ part, done = 0, of }: Progress) =>
  of === undefined ? part && Math.min(part, 1) : of === 0 ? 1 : Math.min(done / of, 1)

/** Progress through the log up to `head`. A position is null before the first one. */
export function logProgress(step: string, { events, position, head }: LogProgress): Progress {
  return { step, done: events, unit: 'events', part: partOfLog(BigInt(position ?? 0), BigInt(head ?? 0)) }
}

type LogProgress = {
  readonly events: number
  readonly position: bigint | string | null
  readonly head: bigint | string | null
}

/** How much of the log lies before a position. */
export const partOfLog = (position: bigint, head: bigint, from = 0n) =>
  head > from ? Math.min(Number(((position - from) * 1_000n) / (head - from)) / 1_000, 1) : 1

const bar = (part: number) => `[${'='.repeat(Math.round(part * barWidth)).padEnd(barWidth)}] `

/** A rough estimate of the remaining time. @param part from 0 to 1 @returns undefined when there is nothing to base it on */
function timeLeft(part: number, elapsedMs: number): string | undefined {
  if (!(part > 0 && part < 1 && elapsedMs > 0)) return undefined
  const seconds = Math.ceil((elapsedMs * (1 - part)) / part / 1_000)
  if (seconds < 120) return `${seconds} s left`
  const minutes = Math.ceil(seconds / 60)
  return minutes < 120 ? `${minutes} min left` : `${Math.ceil(minutes / 60)} h left`
}
