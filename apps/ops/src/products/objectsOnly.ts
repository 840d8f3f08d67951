// Keeps a file that is something else than lines of objects from being imported in parts.

/** The bytes are no lines of objects. */
export class WrongForm extends Error {
  override readonly name = 'WrongForm'
  /** Its number, counted from 1. */
  readonly line: number

  constructor(line: number, reason: string) {
    super(`${reason}: one JSON object per line is needed`)
    this.line = line
  }
}

const byteOrderMark = [0xef, 0xbb, 0xbf]
const lineFeed = 0x0a
const blanks = [0x09, lineFeed, 0x0d, 0x20]
/** With which gzip begins, and no text. */
const gzip = 0x1f
const csvHeader = /^["A-Za-z][^\n]*[,;\t]/

/**
 * Passes bytes on if the first that is not blank begins an object. Of what begins otherwise, some lines might be objects:
 * the last one of an array, for instance, which no comma follows.
 * @throws WrongForm, and what reading `chunks` throws
 */
export async function* objectsOnly(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let [offset, line, isOpen] = [0, 1, false]
  for await (const chunk of chunks) {
    let lineStart = 0
    for (let index = 0; !isOpen && index < chunk.length; index++, offset++) {
      const byte = chunk[index] ?? 0
      if (byte === byteOrderMark[offset]) continue
      if (!blanks.includes(byte)) {
        isOpen = byte === '{'.charCodeAt(0)
        if (isOpen) break
        yield chunk.subarray(0, lineStart)
        throw new WrongForm(line, formOf(chunk.subarray(index)))
      }
      if (byte !== lineFeed) continue
      line++
      lineStart = index + 1
    }
    yield chunk
  }
}

function formOf(start: Buffer): string {
  if (start[0] === gzip) return 'It is compressed'
  const text = start.toString('latin1')
  if (text.startsWith('[')) return 'It begins a JSON array'
  return csvHeader.test(text) ? 'It looks like CSV' : 'It does not begin with {'
}
