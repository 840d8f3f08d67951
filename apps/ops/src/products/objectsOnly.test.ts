// What a file has to begin with.
import t from 'tap'
import { objectsOnly, WrongForm } from './objectsOnly.ts'

/** The bytes that pass, in pieces of `size`, and what is said when they do not. */
async function passed(content: string | Buffer, size: number) {
  const bytes = Buffer.from(content)
  async function* chunks() {
    for (let start = 0; start < bytes.length; start += size) yield bytes.subarray(start, start + size)
  }
  const pieces: Buffer[] = []
  try {
    for await (const chunk of objectsOnly(chunks())) pieces.push(chunk)
  } catch (error) {
    if (!(error instanceof WrongForm)) throw error
    return { text: String(Buffer.concat(pieces)), line: error.line, message: error.message }
  }
  return { text: String(Buffer.concat(pieces)) }
}

t.test('bytes pass as they are when the first that is not blank begins an object', async (t) => {
  for (const content of ['', ' \r\n\t', '\ufeff', '{', '\ufeff{}\n[', '\n \r\n\t {"a":1}\n"\ufeff"', '{\n\u001f\u008b'])
    for (const size of [1, 2, 100]) t.same(await passed(content, size), { text: content })
})

t.test('what else it begins with is told in words, and nothing of that line passes', async (t) => {
  const refused = [
    ['[', '', 1, 'It begins a JSON array'],
    ['\ufeff\n\t\r\n [{}]\n', '\ufeff\n\t\r\n', 3, 'It begins a JSON array'],
    [Buffer.of(0x1f, 0x8b, 8, 0), '', 1, 'It is compressed'],
    ['name,currency\nMug,EUR', '', 1, 'It looks like CSV'],
    ['"Name";Currency\r\n', '', 1, 'It looks like CSV'],
    ['name\tcurrency', '', 1, 'It looks like CSV'],
    ['name\n,', '', 1, 'It does not begin with {'],
    ['Mug', '', 1, 'It does not begin with {'],
    ['\n\ufeff{}', '\n', 2, 'It does not begin with {'],
    ['// products, all\n{}', '', 1, 'It does not begin with {'],
  ] as const
  for (const [content, text, line, reason] of refused)
    t.same(await passed(content, 100), { text, line, message: `${reason}: one JSON object per line is needed` })
  t.same(await passed('\r\n [', 1), {
    text: '\r\n ',
    line: 2,
    message: 'It begins a JSON array: one JSON object per line is needed',
  })
})
