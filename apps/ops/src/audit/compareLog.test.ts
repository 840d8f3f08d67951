// Leaves and checkpoints beyond those of verify.full.test.ts, where a real log is changed on disk.
import type { Checkpoint } from '@paylog/audit-log/checkpoint'
import { createFrontier, hashLeaf } from '@paylog/audit-log/tree'
import t from 'tap'
import { compareLog, type LogLeaf } from './compareLog.ts'

/** An event at each hundredth position, with a leaf of its name. */
function leaf(number: number, text = String(number)): LogLeaf {
  const event = {
    id: `id-${text}`,
    stream: `payment-${number}`,
    revision: '0',
    position: `${number * 100}`,
    type: 'Noted',
  }
  return { hash: hashLeaf(Buffer.from(text)), event }
}

const logOf = (size: number) => Array.from({ length: size }, (_, number) => leaf(number))
const rootOf = (log: readonly LogLeaf[]) => {
  const frontier = createFrontier()
  for (const { hash } of log) frontier.append(hash)
  return frontier.root()
}
type Signed = Pick<Checkpoint, 'size' | 'root'>
const signed = (log: readonly LogLeaf[], size: number): Signed => ({ size, root: rootOf(log.slice(0, size)) })

async function* each<Item>(items: readonly Item[]): AsyncGenerator<Item, void> {
  yield* items
}

type Given = {
  readonly log: readonly LogLeaf[]
  readonly stored?: readonly LogLeaf[]
  readonly checkpoints?: readonly Signed[]
}

const original = logOf(40)
const every = [10, 20, 30, 40].map((size) => signed(original, size))

/** `right`: the sizes of the checkpoints that the log leads to, with the last event that each covers. */
async function compare({ log, stored = original, checkpoints = every }: Given) {
  const tree = stored.map(({ hash, event }) => ({ hash, position: BigInt(event.position) }))
  const right: (readonly [number, string | undefined])[] = []
  const wrong: number[] = []
  const compared = await compareLog({
    log: each(log),
    stored: each(tree),
    checkpoints: each(checkpoints),
    isSame: (one, other) => one.hash.equals(other.hash),
    onCheckpoint({ size }, isRight, last) {
      if (isRight) right.push([size, last?.position])
      else wrong.push(size)
    },
  })
  return { ...compared, right, wrong }
}

const [ten, twenty, thirty, forty] = [
  [10, '900'],
  [20, '1900'],
  [30, '2900'],
  [40, '3900'],
]

t.test('a log leads to all checkpoints that were signed, also after it has grown', async (t) => {
  const right = [ten, twenty, thirty, forty]
  const same = { right, wrong: [], difference: undefined }
  t.match(await compare({ log: original }), { ...same, events: 40, last: leaf(39).event })
  t.match(await compare({ log: logOf(47) }), { ...same, events: 47 })
  t.match(await compare({ log: [], stored: [], checkpoints: [] }), { ...same, right: [], events: 0, last: null })
})

t.test('an event that was added, and events that changed places, are the first leaf that differs', async (t) => {
  const [one, other] = [leaf(25), leaf(26)]
  const moved = original.with(25, { ...other, event: one.event }).with(26, { ...one, event: other.event })
  for (const [kind, log, position] of [
    ['added', original.toSpliced(25, 0, leaf(24.5)), '2450'],
    ['changed', moved, '2500'],
  ] as const) {
    const { difference, right, wrong } = await compare({ log })
    t.match(difference, { kind, index: 25, position, event: log[25]?.event, after: leaf(24).event }, kind)
    t.same({ right, wrong }, { right: [ten, twenty], wrong: [30, 40] }, kind)
  }
})

t.test('a difference after the last checkpoint contradicts none of them', async (t) => {
  const log = original.with(25, leaf(25, 'other'))
  const { difference, right, wrong } = await compare({ log, checkpoints: every.slice(0, 2) })
  t.match(difference, { kind: 'changed', index: 25, position: '2500' })
  t.same({ right, wrong }, { right: [ten, twenty], wrong: [] })
})

t.test('checkpoints of one size that differ contradict the log, which leads to one of them', async (t) => {
  const other = { size: 20, root: rootOf([]) }
  const { right, wrong } = await compare({ log: original, checkpoints: [...every.slice(0, 2), other] })
  t.same([right, wrong], [[ten, twenty], [20]])
})
