// Splits a stream of bytes into lines, in bounded memory. Runs in browsers too.

export type Line = {
  /** From 1, empty lines included. */
  readonly number: number
  /** Without the line ending, or null when the line is too long. */
  readonly bytes: Uint8Array | null
  /** Bytes of the stream up to and including this line. */
  readonly end: number
}

export type LineOptions = {
  /** Of a line, without its ending. */
  readonly maxBytes: number
  /** When it aborts, reading stops and an unfinished line is dropped. */
  readonly signal: AbortSignal
  /** Called with the position while a line that is too long is skipped. */
  readonly onSkipped?: (end: number) => void
}

const lineFeed = 0x0a
const carriageReturn = 0x0d
const byteOrderMark = Uint8Array.of(0xef, 0xbb, 0xbf)

/**
 * Splits at line feeds. A carriage return before one, and a byte order mark at the start, are dropped. A line that is
 * too long is skipped.
 * @throws errors of reading `chunks`, unless the signal has aborted
 */
export async function* readLines(
  chunks: AsyncIterable<Uint8Array>,
  { maxBytes, signal, onSkipped = () => {} }: LineOptions,
): AsyncGenerator<Line> {
  let [number, offset] = [1, 0]
  const buffer = createLineBuffer(maxBytes)
  try {
    for await (const chunk of chunks) {
      let start = 0
      for (let feed = chunk.indexOf(lineFeed); feed >= 0; feed = chunk.indexOf(lineFeed, start)) {
        buffer.add(chunk.subarray(start, feed))
        start = feed + 1
        if (signal.aborted) return
        yield { number, bytes: buffer.take(number === 1), end: offset + start }
        number++
      }
      buffer.add(chunk.subarray(start))
      offset += chunk.length
      if (buffer.isTooLong()) onSkipped(offset)
    }
  } catch (error) {
    if (signal.aborted) return
    throw error
  }
  if (!signal.aborted && !buffer.isEmpty()) yield { number, bytes: buffer.take(number === 1), end: offset }
}

function createLineBuffer(maxBytes: number) {
  // Includes bytes that are dropped later. The exact length is checked at the end of the line.
  const limit = maxBytes + byteOrderMark.length + 1
  let pieces: Uint8Array[] = []
  let length = 0
  return {
    isEmpty: () => length === 0,
    isTooLong: () => length > limit,
    add(piece: Uint8Array): void {
      length += piece.length
      if (length > limit) pieces = []
      else if (piece.length > 0) pieces.push(piece)
    },
    /** Returns the line and starts the next one. */
    take(isFirst: boolean): Uint8Array | null {
      const [only] = pieces
      const whole = pieces.length === 1 && only ? only : concat(pieces)
      const isKept = length <= limit
      pieces = []
      length = 0
      if (!isKept) return null
      const start = isFirst && isSame(whole.subarray(0, byteOrderMark.length), byteOrderMark) ? byteOrderMark.length : 0
      const line = whole.subarray(start, whole.at(-1) === carriageReturn ? -1 : undefined)
      return line.length > maxBytes ? null : line
    },
  }
}

/** Whether both have the same bytes. */
export function isSame(one: Uint8Array, other: Uint8Array): boolean {
  if (one.length !== other.length) return false
  for (let at = 0; at < one.length; at++) if (one[at] !== other[at]) return false
  return true
}

function concat(pieces: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(pieces.reduce((length, piece) => length + piece.length, 0))
  let at = 0
  for (const piece of pieces) {
    whole.set(piece, at)
    at += piece.length
  }
  return whole
}
