// Two logs are equal if and only if all their copied events are equal.
import { positionAt } from '@paylog/testing/positionAt'
import t from 'tap'
import type { RawEvent } from '../read/rawEvent.ts'
import { rawEventFixture } from '../testing/copyLogHarness.ts'
import { compareWith } from './comparison.ts'

async function* logOf(...events: RawEvent[]): AsyncGenerator<RawEvent> {
  yield* events
}

t.test('logs differ if any field of an event differs, except position and time', async (t) => {
  const event = rawEventFixture('one-1', 3)
  const same = { ...event, position: positionAt(9n) }
  t.equal(await compareWith(logOf(same)).counterpart(event), same)
  const changed = {
    place: { revision: 4n },
    type: { type: 'Other' },
    id: { id: '11111111-1111-4111-8111-111111111111' },
    'content type': { contentType: 'application/octet-stream' },
    data: { data: Buffer.from('{ }') },
    metadata: { metadata: Buffer.from('{}') },
  }
  for (const [field, change] of Object.entries(changed)) {
    await t.rejects(compareWith(logOf({ ...event, ...change })).counterpart(event), {
      message: new RegExp(`^The logs differ in ${field}: `),
    })
  }
})

t.test('generated metadata may differ in id and whitespace only', async (t) => {
  const event = rawEventFixture('$$one-1', 0, { type: '$metadata', data: '{"$tb":3,"a":1.0}' })
  const own = { ...event, id: '11111111-1111-4111-8111-111111111111' }
  const comparison = compareWith(logOf(own))
  await comparison.counterpart(event)
  t.equal(comparison.serverGenerated, 1)
  await compareWith(logOf({ ...own, data: Buffer.from('{"a": 1, "$tb": 3}') })).counterpart(event)
  const other = compareWith(logOf({ ...own, data: Buffer.from('{"a": 1, "$tb": 4}') }))
  await t.rejects(other.counterpart(event), { message: /^The logs differ in data: / })
  const respaced = compareWith(logOf({ ...event, data: Buffer.from('{"a": 1, "$tb": 3}') }))
  await t.rejects(
    respaced.counterpart(event),
    { message: /^The logs differ in data: / },
    'an event with the same id must have the same bytes',
  )
})

t.test('the comparison ignores system streams and reports extra events in the target', async (t) => {
  const event = rawEventFixture('one-1', 0)
  const comparison = compareWith(logOf(rawEventFixture('$system', 0), event, rawEventFixture('$$$system', 0)))
  t.equal(await comparison.counterpart(event), event)
  await comparison.finish()
  const longer = compareWith(logOf(event, rawEventFixture('two-1', 0)))
  await longer.counterpart(event)
  await t.rejects(longer.finish(), { message: /^The target has two-1@0 .*, which is not in the source$/ })
  t.equal(await compareWith(logOf()).counterpart(event), undefined)
})
