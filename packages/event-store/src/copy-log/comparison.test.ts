import { positionAt } from '@paylog/testing/positionAt'
import t from 'tap'
import { rawEventFixture } from '../testing/copyLogHarness.ts'
import { requireSame } from './comparison.ts'

t.test('logs differ if any field of an event differs, except position and time', async (t) => {
  const event = rawEventFixture('one-1', 3)
  t.doesNotThrow(() => requireSame(event, { ...event, position: positionAt(9n), created: new Date(9) }))
  const changed = {
    place: { revision: 4n },
    type: { type: 'Other' },
    id: { id: '11111111-1111-4111-8111-111111111111' },
    'content type': { contentType: 'application/octet-stream' },
    data: { data: Buffer.from('{ }') },
    metadata: { metadata: Buffer.from('{}') },
  }
  for (const [field, change] of Object.entries(changed))
    t.throws(() => requireSame(event, { ...event, ...change }), {
      message: new RegExp(`^The logs differ in ${field}: `),
    })
})
