// Grouping and caching do not change results: appends are decided as if one by one.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { migrate } from '@paylog/runtime/postgres/migrate'
import { createPool } from '@paylog/runtime/postgres/pool'
import { createLog } from '@paylog/runtime/telemetry/log'
import { createTestDatabase } from '@paylog/testing/testDatabase'
import fc from 'fast-check'
import t, { type Test } from 'tap'
import { lockWriter } from '../storage/writerSession.ts'
import { createTail } from '../subscriptions/tail.ts'
import { createCommits } from './commits.ts'
import { expectAny, expectNoStream, type Outcome, type Proposal } from './proposal.ts'

const log = createLog({ app: 'embedded-event-store', level: 'silent' })

/** A writer on a separate log. */
async function openWriter(t: Test) {
  const { databaseUrl } = await createTestDatabase(t)
  const pool = createPool({ databaseUrl, applicationName: 'groups test', max: 1, log })
  const { signal } = new AbortController()
  const locked = await lockWriter({ databaseUrl, timeoutMs: 0, ownEpoch: undefined, signal, log })
  t.teardown(async () => {
    await locked.close()
    await pool.end()
  })
  await migrate(pool, { schema: 'event_store', directory: new URL('../migrations/', import.meta.url) })
  const session = await locked.beWriter()
  const tail = createTail(session.lastPosition)
  const commits = createCommits(tail, session.lastPosition)
  return {
    commit: (proposals: readonly Proposal[]) => commits.commit(session, proposals),
    forget: commits.forget,
    knownHead: commits.knownHead,
    /** The events after a position, without the fields that differ between logs. */
    async writtenAfter(position: bigint) {
      const text =
        'select position, stream, revision, type, data from event_store.events where position > $1 order by 1'
      return (await pool.query(text, [position])).rows
    },
    lastPosition: () => tail.lastPosition,
  }
}

type Step = { readonly forget: boolean; readonly group: readonly Draft[] }
type Draft = {
  readonly kind: Proposal['kind']
  readonly stream: string
  readonly expected: bigint
  readonly events: readonly { readonly id: number; readonly data: string }[]
}

const written = { kind: 'append', expected: expectNoStream, events: [{ id: 0, data: '{}' }] } as const
const metadata = ['{}', '{"$tb":1}', '{"$maxCount":1}', '{"$tb":9223372036854775807}'] as const
const draft: fc.Arbitrary<Draft> = fc.record({
  kind: fc.oneof(
    { weight: 20, arbitrary: fc.constant('append' as const) },
    { weight: 2, arbitrary: fc.constant('delete' as const) },
    { weight: 1, arbitrary: fc.constant('tombstone' as const) },
  ),
  stream: fc.constantFrom('a', 'a', 'a', 'b', 'b', 'c', '$$a', '$$b'),
  expected: fc.constantFrom(-2n, -2n, -2n, -1n, -1n, -4n, 0n, 1n, 2n, 3n),
  events: fc.array(fc.record({ id: fc.nat(3), data: fc.constantFrom(...metadata) }), { maxLength: 3 }),
})
const steps: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.record({ forget: fc.boolean(), group: fc.array(draft, { minLength: 1, maxLength: 6 }) }),
  { minLength: 1, maxLength: 5 },
)

/** Within one group, an id counts only in the stream where it occurred first, and is new in any other. */
const repeatedInOneGroup: readonly Step[] = ['a', 'b'].map((stream, index) => ({
  forget: true,
  group: Array.from({ length: index + 1 }, () => ({
    kind: 'append',
    stream,
    expected: expectAny,
    events: [{ id: 0, data: '{}' }],
  })),
}))

/** Streams and ids that no other run uses. */
function proposalsOf(run: number, ids: readonly string[], group: readonly Draft[]): Proposal[] {
  return group.map(({ kind, stream, expected, events }) => {
    const target = { stream: stream.replace(/\w/, `${run}-$&`), expected }
    if (kind !== 'append') return { kind, ...target }
    const about = { type: 'T', isJson: true, metadata: Buffer.alloc(0) }
    const proposed = events.map(({ id, data }) => ({ ...about, eventId: ids[id] ?? '', data: Buffer.from(data) }))
    return { kind, ...target, events: proposed }
  })
}

t.test('a group of appends has the same results as the same appends one by one', async (t) => {
  const grouped = await openWriter(t)
  const single = await openWriter(t)
  let run = 0
  const property = fc.asyncProperty(steps, async (steps) => {
    run += 1
    const ids = Array.from({ length: 4 }, () => randomUUID())
    const before = single.lastPosition()
    for (const { forget, group } of steps) {
      if (forget) grouped.forget()
      const proposals = proposalsOf(run, ids, group)
      const together = await grouped.commit(proposals)
      const apart: Outcome[] = []
      for (const proposal of proposals) {
        single.forget()
        apart.push(...(await single.commit([proposal])))
      }
      assert.deepEqual(together, apart)
    }
    assert.deepEqual(await grouped.writtenAfter(before), await single.writtenAfter(before))
  })
  await t.resolves(fc.assert(property, { seed: 1, numRuns: 150, examples: [[repeatedInOneGroup]] }))
})

t.test('the writer caches every stream that it has read, until the cache is cleared', async (t) => {
  const writer = await openWriter(t)
  const append = (stream: string, expected: bigint): Proposal => ({ kind: 'append', stream, expected, events: [] })
  await writer.commit([append('new', expectNoStream)])
  t.equal(writer.knownHead('$$new')?.last, -1n, 'assumed absent, correctly')
  t.equal(writer.knownHead('new')?.last, -1n)
  await writer.commit(proposalsOf(0, [randomUUID()], [{ ...written, stream: 'a' }]))
  t.equal(writer.knownHead('0-a')?.last, 0n)
  await writer.commit([append('rejected', 5n)])
  t.equal(writer.knownHead('rejected')?.last, -1n, 'read, and absent')
  writer.forget()
  t.same(['new', '$$new', '0-a', 'rejected'].map(writer.knownHead), Array(4).fill(undefined))
})
