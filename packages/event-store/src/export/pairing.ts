// Pairs the lines of an export with the events of the log, both in order, in bounded memory. Runs in browsers too.
import type { ExportedLine } from './exportedLines.ts'
import { lookAhead } from './lookAhead.ts'

/** An event of the log, as the line that it must be exported as. */
export type LogLine = { readonly id: string; readonly position: bigint; readonly bytes: Uint8Array }

export type PairingFindings = {
  /** The line is about this event. Whether its content is right is checked separately. */
  paired(line: ExportedLine, expected: LogLine, isInOrder: boolean): Promise<void>
  /** The event is in the log and not in the file. */
  missing(expected: LogLine): Promise<void>
  /** The line matches no event of the log, or one that already has a line. */
  extra(line: ExportedLine): Promise<void>
}

/**
 * Compares line by line while both sides match. What does not match waits for its counterpart, which is then out of order. The
 * number of waiting items is bounded, so that a line moved by more than a thousand others may count as one missing and one extra.
 */
export async function pair(
  lines: AsyncGenerator<ExportedLine, void>,
  log: AsyncGenerator<LogLine, void>,
  { paired, missing, extra }: PairingFindings,
): Promise<void> {
  const file = lookAhead(lines)
  const events = lookAhead(log)
  const waitingLines = createWaiting(extra)
  const waitingEvents = createWaiting(missing)

  async function passEvents(isPassed: (event: LogLine) => boolean): Promise<void> {
    for (let [event] = await events.peek(1); event !== undefined && isPassed(event); [event] = await events.peek(1)) {
      await events.take()
      const line = waitingLines.take(isAbout(event))
      if (line === undefined) await waitingEvents.add(event)
      else await paired(line, event, false)
    }
  }
  for (let line = await file.take(); line !== undefined; line = await file.take()) {
    const isItsEvent = isAbout(line)
    const end = positionBefore(line, (await file.peek(1))[0])
    await passEvents((event) => event.position < end && !isItsEvent(event))
    const [next] = await events.peek(1)
    if (next !== undefined && isItsEvent(next)) {
      await events.take()
      await paired(line, next, true)
      continue
    }
    const event = waitingEvents.take(isItsEvent)
    if (event === undefined) await waitingLines.add(line)
    else await paired(line, event, false)
  }
  await passEvents(() => true)
  await waitingEvents.end()
  await waitingLines.end()
}

type Place = Pick<ExportedLine, 'id' | 'position'>

/** Position or id is enough: the other may have been changed. */
const isAbout =
  ({ id, position }: Place) =>
  (other: Place): boolean =>
    (id !== undefined && id === other.id) || (position !== undefined && position === other.position)

/** The position of a line; 0 when it cannot be trusted, because the next line has a lower one. */
function positionBefore({ position = 0n }: Place, next: Place | undefined): bigint {
  return next?.position !== undefined && next.position <= position ? 0n : position
}

const maxItems = 1_000
const maxBytes = 64 << 20

/** Items without a counterpart so far. @param giveUp called for each one that gets none */
function createWaiting<Item extends { readonly bytes: Uint8Array | null }>(giveUp: (item: Item) => Promise<void>) {
  const items: Item[] = []
  let bytes = 0
  const remove = (index: number): Item | undefined => {
    const [item] = items.splice(index, 1)
    bytes -= item?.bytes?.length ?? 0
    return item
  }
  async function shrinkTo(count: number, size: number): Promise<void> {
    while (items.length > count || bytes > size) {
      const first = remove(0)
      if (first !== undefined) await giveUp(first)
    }
  }
  return {
    async add(item: Item): Promise<void> {
      items.push(item)
      bytes += item.bytes?.length ?? 0
      await shrinkTo(maxItems, maxBytes)
    },
    /** Takes the first item that matches. */
    take(isWanted: (item: Item) => boolean): Item | undefined {
      const index = items.findIndex(isWanted)
      return index < 0 ? undefined : remove(index)
    },
    /** Gives up all remaining items. */
    end: () => shrinkTo(0, 0),
  }
}
