import { createFrontier, hashLeaf } from '@paylog/audit-log/tree'
import t from 'tap'
import { compareLog, type LogComparison, type SignedCheckpoint } from './compareLog.ts'
import type { LogLeaf } from './leafDifference.ts'

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
const signed = (log: readonly LogLeaf[], size: number): SignedCheckpoint => ({
  size,
  root: rootOf(log.slice(0, size)),
  source: `checkpoint ${size}`,
})

async function* each<Item>(items: readonly Item[]): AsyncGenerator<Item, void> {
  yield* items
}

type Given = {
  readonly log: readonly LogLeaf[]
  readonly stored?: readonly LogLeaf[]
  readonly checkpoints?: readonly SignedCheckpoint[]
}

const original = logOf(40)
const every = [10, 20, 30, 40].map((size) => signed(original, size))

function compare({ log, stored = original, checkpoints = every }: Given): Promise<LogComparison> {
  const tree = stored.map(({ hash, event }) => ({ hash, position: BigInt(event.position) }))
  const sources = { log: each(log), stored: each(tree), treeSize: tree.length, checkpoints: each(checkpoints) }
  return compareLog(sources, () => {})
}

const changes = {
  changed: original.with(25, leaf(25, 'other')),
  missing: original.toSpliced(25, 1),
  added: original.toSpliced(25, 0, leaf(24.5)),
  order: original.with(25, { ...leaf(26), event: leaf(25).event }).with(26, { ...leaf(25), event: leaf(26).event }),
  truncated: original.slice(0, 25),
} as const
const positions = { changed: '2500', missing: '2500', added: '2450', order: '2500', truncated: '2500' } as const

t.test('a log that leads to all checkpoints is proven up to the last one', async (t) => {
  const { proven, ...rest } = await compare({ log: original })
  t.same(rest, { events: 40, checkpoints: 4, difference: undefined, treeDamage: undefined })
  t.same(proven, { size: 40, event: leaf(39).event, by: every[3] })
})

t.test('a log that has grown is proven up to the last checkpoint', async (t) => {
  const { events, difference, proven } = await compare({ log: logOf(47) })
  t.same([events, difference, proven?.size], [47, undefined, 40])
})

t.test('an empty log without checkpoints has no difference and proves nothing', async (t) => {
  const { events, difference, proven } = await compare({ log: [], stored: [], checkpoints: [] })
  t.same([events, difference, proven], [0, undefined, undefined])
})

t.test(
  'a difference from the stored leaves names its kind, its position and the checkpoint that shows it',
  async (t) => {
    for (const kind of ['changed', 'missing', 'added', 'order', 'truncated'] as const) {
      const { difference, proven } = await compare({ log: changes[kind] })
      t.match(difference, { kind, index: 25, position: positions[kind], after: leaf(24).event, by: every[2] }, kind)
      t.match(proven, { size: 25, event: leaf(24).event, by: every[2] }, kind)
    }
  },
)

t.test('a difference after the last checkpoint is shown by none', async (t) => {
  const { difference, proven } = await compare({ log: changes.changed, checkpoints: every.slice(0, 2) })
  t.match(difference, { kind: 'changed', index: 25, by: null })
  t.equal(proven?.size, 20)
})

t.test('several events that are missing at one place are counted', async (t) => {
  const { difference } = await compare({ log: original.toSpliced(25, 7) })
  t.match(difference, { kind: 'missing', index: 25, count: 7, before: leaf(32).event })
  const cut = await compare({ log: changes.truncated })
  t.match(cut.difference, { kind: 'truncated', count: 15 })
})

t.test('an event that was moved to the end of the window is out of order', async (t) => {
  const moved = original.toSpliced(25, 1).toSpliced(35, 0, leaf(25))
  t.match((await compare({ log: moved })).difference, { kind: 'order', index: 25, position: '2600' })
  const forward = original.toSpliced(35, 1).toSpliced(25, 0, leaf(35))
  t.match((await compare({ log: forward })).difference, { kind: 'order', index: 25, position: '3500' })
})

t.test('when the stored leaves were changed as the log was, the checkpoints bracket the difference', async (t) => {
  for (const kind of ['changed', 'missing', 'added', 'order'] as const) {
    const log = [...changes[kind]]
    const { difference, proven } = await compare({ log, stored: log })
    t.match(difference, {
      kind: 'within',
      index: 20,
      position: '2000',
      first: leaf(20).event,
      by: every[2],
      suspect: null,
    })
    t.equal(proven?.size, 20, kind)
  }
})

t.test('a log that was cut together with its tree contradicts a checkpoint from outside', async (t) => {
  const log = original.slice(0, 25)
  const kept = every.slice(0, 2)
  t.match(await compare({ log, stored: log, checkpoints: kept }), { difference: undefined, proven: { size: 20 } })
  const { difference, proven } = await compare({ log, stored: log, checkpoints: [...kept, signed(original, 33)] })
  t.match(difference, { kind: 'truncated', index: 25, count: 8, after: leaf(24).event, by: { size: 33 } })
  t.equal(proven?.size, 20)
})

t.test('stored leaves that were changed beside a right log are damage of the tree', async (t) => {
  const { difference, treeDamage, proven } = await compare({ log: original, stored: [...changes.changed] })
  t.same([difference, proven?.size], [undefined, 40])
  t.match(treeDamage, { kind: 'changed', index: 25 })
  const both = await compare({ log: original.with(35, leaf(35, 'other')), stored: [...changes.changed] })
  t.match(both, { treeDamage: { index: 25 }, difference: { kind: 'changed', index: 35, by: every[3] } })
})

t.test('checkpoints of one size that differ contradict the log', async (t) => {
  const other = { ...every[1], size: 20, root: rootOf([]), source: 'another' }
  const { difference, checkpoints } = await compare({ log: original, checkpoints: [...every.slice(0, 2), other] })
  t.match(difference, { kind: 'within', index: 20, by: { source: 'another' } })
  t.equal(checkpoints, 2)
})
