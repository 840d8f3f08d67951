// Pairs the lines of an export with the events of the log, both in order, in bounded memory. Runs in browsers too.
import type { LogPosition } from '@paylog/domain/events'
import { isSame } from './bytes.ts'
import type { ExportedLine } from './exportedLines.ts'

const maxItems = 1_000
const maxBytes = 64 << 20
/** An event of the log, and the line that it must be exported as. */
export type LogLine = {
  readonly event: { readonly id: string; readonly position: LogPosition }
  readonly bytes: Uint8Array
}

export type PairingFindings<Entry extends LogLine> = {
  /** The line is about this event. Whether its content is right is checked separately. */
  paired(line: ExportedLine, expected: Entry): Promise<void>
  /** The event is in the log and not in the file. */
  missing(expected: Entry): Promise<void>
  /** The line matches no event of the log, or one that already has a line. */
  extra(line: ExportedLine): Promise<void>
}

/**
 * Compares line by line while both sides match. Otherwise it searches by position and id: a line among the events up to
 * its position and those that have no line yet, and vice versa. The number of waiting items is bounded, so that a line
 * moved by more than a thousand others may count as one missing and one extra.
 */
export async function pair<Entry extends LogLine>(
  lines: AsyncGenerator<ExportedLine, void>,
  log: AsyncGenerator<Entry, void>,
  findings: PairingFindings<Entry>,
): Promise<void> {
  const file = lookAhead(lines)
  const events = lookAhead(log)
  const waitingLines = createPendingItems<ExportedLine>(({ bytes }) => bytes?.length ?? 0, findings.extra)
  const waitingEvents = createPendingItems<Entry>(({ bytes }) => bytes.length, findings.missing)

  /** Takes the next event of the log, which does not belong to the current line. */
  async function pass(expected: Entry): Promise<void> {
    const line = waitingLines.take((waiting) => isAbout(waiting, expected))
    if (line === undefined) await waitingEvents.add(expected)
    else await findings.paired(line, expected)
  }
  /** Finds the event of a line, up to the position that the line states. */
  async function find(line: ExportedLine): Promise<Entry | undefined> {
    const waiting = waitingEvents.take((expected) => isAbout(line, expected))
    if (waiting !== undefined) return waiting
    for (let isNext = true; ; isNext = false) {
      const expected = await events.peek()
      if (expected === undefined) return undefined
      const isFound = isAbout(line, expected)
      // When the next line has a lower position, the position of this one cannot be trusted.
      if (!isFound && !(await isUpTo(line, expected, isNext))) return undefined
      await events.take()
      if (isFound) return expected
      await pass(expected)
    }
  }
  async function isUpTo({ position }: ExportedLine, expected: Entry, looksAhead: boolean): Promise<boolean> {
    if (position === undefined || position <= expected.event.position.commit) return false
    const following = looksAhead ? await file.peek() : undefined
    return following?.position === undefined || following.position > position
  }

  for (let line = await file.take(); line !== undefined; line = await file.take()) {
    const next = await events.peek()
    const isNext = next !== undefined && line.bytes !== null && isSame(next.bytes, line.bytes)
    if (isNext) await events.take()
    const expected = isNext ? next : await find(line)
    if (expected === undefined) await waitingLines.add(line)
    else await findings.paired(line, expected)
  }
  for (let expected = await events.take(); expected !== undefined; expected = await events.take()) await pass(expected)
  await waitingEvents.end()
  await waitingLines.end()
}

/** Position or id is enough: the other may have been changed. */
function isAbout(line: ExportedLine, { event }: LogLine): boolean {
  return line.position === event.position.commit || line.id === event.id
}

/** The items of a generator, with a look at the next one. */
function lookAhead<Item>(items: AsyncGenerator<Item, void>) {
  let next: Promise<IteratorResult<Item, void>> | undefined
  const peek = async () => {
    next ??= items.next()
    return (await next).value ?? undefined
  }
  return {
    peek,
    async take(): Promise<Item | undefined> {
      const item = await peek()
      next = undefined
      return item
    },
  }
}

export type PendingItems<Item> = {
  add(item: Item): Promise<void>
  /** Takes the first item that matches. */
  take(fits: (item: Item) => boolean): Item | undefined
  /** Gives up all remaining items. */
  end(): Promise<void>
}

/** @param giveUp called for each item without a counterpart */
function createPendingItems<Item>(
  sizeOf: (item: Item) => number,
  giveUp: (item: Item) => Promise<void>,
): PendingItems<Item> {
  const items: Item[] = []
  let bytes = 0
  async function shrinkTo(count: number, size: number): Promise<void> {
    while (items.length > count || bytes > size) {
      const first = items.shift()
      if (first === undefined) return
      bytes -= sizeOf(first)
      await giveUp(first)
    }
  }
  return {
    async add(item) {
      items.push(item)
      bytes += sizeOf(item)
      await shrinkTo(maxItems, maxBytes)
    },
    take(fits) {
      const index = items.findIndex(fits)
      const [item] = index < 0 ? [] : items.splice(index, 1)
      if (item !== undefined) bytes -= sizeOf(item)
      return item
    },
    end: () => shrinkTo(0, 0),
  }
}

export type LineOrder = ReturnType<typeof createOrder>

/** Checks that lines are in the order of the log. */
export function createOrder() {
  let [lastLine, lastPosition] = [0, -1n]
  return {
    isRight(line: number, position: bigint): boolean {
      const isRight = line > lastLine === position > lastPosition
      lastLine = Math.max(lastLine, line)
      lastPosition = position > lastPosition ? position : lastPosition
      return isRight
    },
  }
}
