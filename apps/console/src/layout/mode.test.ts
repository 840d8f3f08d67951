import t from 'tap'
import { modeOf } from './mode.ts'

const mode = (...modes: NonNullable<Parameters<typeof modeOf>[0]>[number]['mode'][]) =>
  modeOf(modes.map((each) => ({ mode: each })))

t.test('the sign says live only when real money moves everywhere, and test only when it moves nowhere', async (t) => {
  t.equal(mode('live', null), 'live')
  t.equal(mode('live', 'test'), 'mixed')
  t.equal(mode('live', 'sandbox'), 'mixed')
  t.equal(mode('test', 'sandbox', null), 'test')
  t.equal(mode('sandbox', null), 'sandbox')
  t.equal(mode(null), null)
})
