import t from 'tap'
import { type LineOptions, readLines } from './lines.ts'

const maxBytes = 8
const neverAborted = new AbortController().signal

async function* chunksOf(bytes: Buffer, size: number) {
  for (let start = 0; start < bytes.length; start += size) yield bytes.subarray(start, start + size)
}

async function linesOf(content: string | Buffer, size = 64 * 1024, options: Partial<LineOptions> = {}) {
  const lines: { number: number; text: string | null; end: number }[] = []
  const chunks = chunksOf(Buffer.from(content), size)
  for await (const { number, bytes, end } of readLines(chunks, { maxBytes, signal: neverAborted, ...options }))
    lines.push({ number, text: bytes === null ? null : Buffer.from(bytes).toString('latin1'), end })
  return lines
}

const textsOf = async (content: string | Buffer, size?: number) =>
  (await linesOf(content, size)).map(({ text }) => text)

t.test('readLines returns the same lines for any chunks', async (t) => {
  const content = '\ufeffone\r\ntwo\n\n\r\n123456789\n12345678\r\n123456789012345\nlast'
  const whole = await linesOf(content)
  t.same(
    whole.map(({ number, text }) => [number, text]),
    [
      [1, 'one'],
      [2, 'two'],
      [3, ''],
      [4, ''],
      [5, null],
      [6, '12345678'],
      [7, null],
      [8, 'last'],
    ],
  )
  t.same(
    whole.map(({ end }) => end),
    [8, 12, 13, 15, 25, 35, 51, 55],
  )
  for (let size = 1; size <= 20; size++) t.same(await linesOf(content, size), whole, `${size} bytes`)
})

t.test('the line limit excludes the line ending and the byte order mark', async (t) => {
  for (const size of [1, 3, 100]) {
    for (const [before, after] of [
      ['', ''],
      ['', '\n'],
      ['', '\r\n'],
      ['\ufeff', '\r\n'],
      ['\ufeff', ''],
    ] as const) {
      t.same(await textsOf(`${before}12345678${after}`, size), ['12345678'])
      t.same(await textsOf(`${before}123456789${after}`, size), [null])
    }
    t.same(await textsOf('x\n12345678\r\r\n', size), ['x', null])
  }
})

t.test('a byte order mark is dropped only at the start of the stream', async (t) => {
  const mark = '\u00ef\u00bb\u00bf'
  t.same(await textsOf('\ufeff\ufeffx\n\ufeffy'), [`${mark}x`, `${mark}y`])
  t.same(await textsOf('\ufeff'), [''])
  t.same(await textsOf(Buffer.of(0xef, 0xbb)), ['\u00ef\u00bb'])
})

t.test('a carriage return alone does not end a line', async (t) => {
  t.same(await textsOf('a\rb\n\rc\n'), ['a\rb', '\rc'])
})

t.test('an empty stream has no lines, and a final line feed starts none', async (t) => {
  t.same(await textsOf(''), [])
  t.same(await textsOf('a\n'), ['a'])
  t.same(await textsOf('\n'), [''])
})

t.test('a line that is too long is skipped, and its progress is reported', async (t) => {
  const ends: number[] = []
  const lines = await linesOf(`${'x'.repeat(35)}\nshort\n`, 10, { onSkipped: (end) => ends.push(end) })
  t.same(lines, [
    { number: 1, text: null, end: 36 },
    { number: 2, text: 'short', end: 42 },
  ])
  t.same(ends, [20, 30])
})

t.test('an aborted readLines drops the unfinished line', async (t) => {
  for (const fails of [false, true]) {
    const interruption = new AbortController()
    async function* chunks() {
      yield Buffer.from('one\ntwo\nthr')
      interruption.abort()
      if (fails) throw new Error('aborted')
    }
    const texts: string[] = []
    for await (const { bytes } of readLines(chunks(), { maxBytes, signal: interruption.signal }))
      texts.push(String(bytes))
    t.same(texts, ['one', 'two'])
  }
  const interruption = new AbortController()
  const started = readLines(chunksOf(Buffer.from('one\ntwo\n'), 100), { maxBytes, signal: interruption.signal })
  t.match(await started.next(), { value: { number: 1 } })
  interruption.abort()
  t.match(await started.next(), { done: true, value: undefined })
})

t.test('readLines rejects when its stream fails', async (t) => {
  async function* chunks() {
    yield Buffer.from('one\ntw')
    throw new Error('on purpose')
  }
  const lines = readLines(chunks(), { maxBytes, signal: neverAborted })
  await lines.next()
  await t.rejects(lines.next(), new Error('on purpose'))
})
