import { randomUUID } from 'node:crypto'
import t from 'tap'
import type { ExportedLine } from './exportedLines.ts'
import { type LogLine, pair } from './pairing.ts'

const logOf = (count: number): LogLine[] =>
  Array.from({ length: count }, (_, index) => {
    const id = randomUUID()
    return { id, position: BigInt(index * 3), bytes: Buffer.from(id) }
  })

const lineOf = (line: LogLine, number = 0): ExportedLine => ({ ...line, number, isWhole: true })

async function* each<Item>(items: readonly Item[]): AsyncGenerator<Item, void> {
  yield* items
}

async function findings(log: readonly LogLine[], lines: readonly ExportedLine[]) {
  const found = { paired: 0, wrong: 0, missing: 0, extra: 0 }
  await pair(each(lines), each(log), {
    async paired(line, { id }) {
      found.paired++
      if (line.id !== id) found.wrong++
    },
    async missing() {
      found.missing++
    },
    async extra() {
      found.extra++
    },
  })
  return found
}

t.test('a gap of any length and place is reported as missing lines only', async (t) => {
  const log = logOf(6_000)
  const lines = log.map((line) => lineOf(line))
  t.same(await findings(log, lines), { paired: 6_000, wrong: 0, missing: 0, extra: 0 })
  for (const [from, count] of [
    [0, 5_000],
    [500, 5_000],
    [1_000, 5_000],
  ] as const)
    t.same(await findings(log, lines.toSpliced(from, count)), { paired: 1_000, wrong: 0, missing: 5_000, extra: 0 })
  t.same(await findings(log.toSpliced(500, 5_000), lines), { paired: 1_000, wrong: 0, missing: 0, extra: 5_000 })
})

t.test('lines in any order are paired while they fit into the waiting list', async (t) => {
  const log = logOf(900)
  const lines = log.map((line) => lineOf(line))
  t.same(await findings(log, lines.toReversed()), { paired: 900, wrong: 0, missing: 0, extra: 0 })
  const odd = lines.filter((_, index) => index % 2 === 1)
  const even = lines.filter((_, index) => index % 2 === 0)
  t.same(await findings(log, [...odd, ...even]), { paired: 900, wrong: 0, missing: 0, extra: 0 })
  const far = logOf(5_000)
  const moved = far.map((line) => lineOf(line))
  const { missing, extra, paired } = await findings(far, moved.toReversed())
  t.equal(missing + paired, 5_000)
  t.equal(extra, missing)
})

t.test('a line with a far too high position does not affect other lines', async (t) => {
  const log = logOf(5_000)
  const lines = log.map((line) => lineOf(line))
  const [line] = lines.slice(10, 11)
  if (line === undefined) throw new Error('There are so many')
  const changed = { ...line, position: 10_000_000n, bytes: Buffer.from('changed') }
  const moved = lines.with(10, changed)
  t.same(await findings(log, moved), { paired: 5_000, wrong: 0, missing: 0, extra: 0 })
  const extraLine = lines.with(10, { ...changed, id: 'strange' })
  t.same(await findings(log, extraLine), { paired: 4_999, wrong: 0, missing: 1, extra: 1 })
})
