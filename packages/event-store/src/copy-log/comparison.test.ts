// Two logs are the same when every moved event is, and only then.
import t from 'tap'
import type { RawEvent } from '../raw/rawEvent.ts'
import { rawEventFixture } from '../testing/copyLogHarness.ts'
import { compareWith } from './comparison.ts'

async function* logOf(...events: RawEvent[]): AsyncGenerator<RawEvent> {
  yield* events
}

t.test('every field of an event counts, but for where and when it was recorded', async (t) => {
  const event = rawEventFixture('one-1', 3)
  const same = { ...event, position: { commit: 9n, prepare: 9n } }
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

t.test('metadata may have another id, and then other spaces, but says the same', async (t) => {
  const event = rawEventFixture('$$one-1', 0, { type: '$metadata', data: '{"$tb":3,"a":1.0}' })
  const own = { ...event, id: '11111111-1111-4111-8111-111111111111' }
  const comparison = compareWith(logOf(own))
  await comparison.counterpart(event)
  t.equal(comparison.serverGenerated, 1)
  await compareWith(logOf({ ...own, data: Buffer.from('{"a": 1, "$tb": 3}') })).counterpart(event)
  const other = compareWith(logOf({ ...own, data: Buffer.from('{"a": 1, "$tb": 4}') }))
  await t.rejects(other.counterpart(event), { message: /^The logs differ in data: / })
  const respaced = compareWith(logOf({ ...event, data: Buffer.from('{"a": 1, "$tb": 3}') }))
  await t.rejects(respaced.counterpart(event), { message: /^The logs differ in data: / }, 'a copied event is exact')
})

t.test('system streams do not take part, and what is left over does', async (t) => {
  const event = rawEventFixture('one-1', 0)
  const comparison = compareWith(logOf(rawEventFixture('$system', 0), event, rawEventFixture('$$$system', 0)))
  t.equal(await comparison.counterpart(event), event)
  await comparison.finish()
  const longer = compareWith(logOf(event, rawEventFixture('two-1', 0)))
  await longer.counterpart(event)
  await t.rejects(longer.finish(), { message: /^The target has two-1@0 .*, which the source has not$/ })
  t.equal(await compareWith(logOf()).counterpart(event), undefined)
})
