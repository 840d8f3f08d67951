// The cache of stream heads.
import t from 'tap'
import { createHeadCache } from './headCache.ts'
import { absentHead } from './streamHead.ts'

t.test('the cache keeps the most recently used heads', async (t) => {
  const cache = createHeadCache(2)
  cache.set('a', absentHead)
  cache.set('b', absentHead)
  cache.get('a')
  cache.set('c', absentHead)
  t.same(
    ['a', 'b', 'c'].filter((stream) => cache.get(stream) !== undefined),
    ['a', 'c'],
  )
})

t.test('a head with large metadata is not cached, and replaces an older one', async (t) => {
  const cache = createHeadCache(2)
  const small = { ...absentHead, deletionMark: Buffer.alloc(4_096) }
  cache.set('a', small)
  t.equal(cache.get('a'), small)
  cache.set('a', { ...absentHead, deletionMark: Buffer.alloc(4_097) })
  t.equal(cache.get('a'), undefined)
})
