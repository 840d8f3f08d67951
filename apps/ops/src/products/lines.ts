// The lines of a stream of bytes, in bounded memory whatever stands in it.

export type Line = {
  /** Counted from 1, empty lines as well. */
  readonly number: number
  /** Without its ending; `null` for a line that is too long. */
  readonly bytes: Buffer | null
  /** How many bytes of the stream have ended with it. */
  readonly end: number
}

export type LineOptions = {
  /** Of a line, its ending not counted. */
  readonly maxBytes: number
  /** No further line comes once it aborts; what was read of one by then is none. */
  readonly signal: AbortSignal
  /** How far the reading has come inside a line that is too long. */
  readonly onSkipped?: (end: number) => void
}

const lineFeed = 0x0a
const carriageReturn = 0x0d
const byteOrderMark = Buffer.of(0xef, 0xbb, 0xbf)

/**
 * Cuts at line feeds; a carriage return before one belongs to it, and so does a byte order mark to the stream. A line
 * that is too long is read over.
 * @throws what reading `chunks` throws, unless the signal has aborted
 */
export async function* readLines(
  chunks: AsyncIterable<Buffer>,
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

/** The pieces of one line. */
function createLineBuffer(maxBytes: number) {
  // What does not count may stand there as well; the exact length is known at the end.
  const limit = maxBytes + byteOrderMark.length + 1
  let pieces: Buffer[] = []
  let length = 0
  return {
    isEmpty: () => length === 0,
    isTooLong: () => length > limit,
    add(piece: Buffer): void {
      length += piece.length
      if (length > limit) pieces = []
      else if (piece.length > 0) pieces.push(piece)
    },
    /** The line, and the next one begins. */
    take(isFirst: boolean): Buffer | null {
      const [only] = pieces
      const whole = pieces.length === 1 && only ? only : Buffer.concat(pieces)
      const isKept = length <= limit
      pieces = []
      length = 0
      if (!isKept) return null
      const start = isFirst && whole.subarray(0, byteOrderMark.length).equals(byteOrderMark) ? byteOrderMark.length : 0
      const line = whole.subarray(start, whole.at(-1) === carriageReturn ? -1 : undefined)
      return line.length > maxBytes ? null : line
    },
  }
}
