// Which groups are decided without a query, with assumptions that the commit verifies.
import t from 'tap'
import { createHeadCache } from '../storage/headCache.ts'
import { deletedRevision } from '../storage/storedEvent.ts'
import { absentHead } from '../storage/streamHead.ts'
import { assumeGroupFacts } from './groupFacts.ts'
import { expectAny, expectNoStream, expectStreamExists, type Proposal } from './proposal.ts'

const append = (stream: string, expected: bigint): Proposal => ({ kind: 'append', stream, expected, events: [] })
const at = (last: bigint) => ({ ...absentHead, last })

function cacheOf(heads: Record<string, bigint>) {
  const cache = createHeadCache(100)
  for (const [stream, last] of Object.entries(heads)) cache.set(stream, at(last))
  return cache
}

t.test('appends to new streams and to the end of cached ones need no query', async (t) => {
  const cache = cacheOf({ known: 4n, $$known: -1n })
  const assumed = assumeGroupFacts(cache, [
    append('new', expectNoStream),
    append('any', expectAny),
    append('known', 4n),
  ])
  t.same(assumed?.assumedAbsent, ['new', '$$new', 'any', '$$any'])
  t.equal(assumed?.facts.head('known').last, 4n)
  t.equal(assumed?.facts.head('new').last, -1n)
})

t.test('rejected and repeated appends, and partly cached streams, need a query', async (t) => {
  const table: [string, Record<string, bigint>, Proposal[]][] = [
    ['a new stream that has to exist', {}, [append('new', expectStreamExists)]],
    ['a revision of a new stream', {}, [append('new', 3n)]],
    ['a revision before the end', { known: 4n, $$known: -1n }, [append('known', 3n)]],
    ['ids in a known stream', { known: 4n, $$known: -1n }, [append('known', expectAny)]],
    ['a stream twice', {}, [append('new', expectAny), append('new', expectAny)]],
    ['a deletion', { known: 4n, $$known: -1n }, [{ kind: 'delete', stream: 'known', expected: 4n }]],
    ['a tombstone', {}, [{ kind: 'tombstone', stream: 'new', expected: expectAny }]],
    ['uncached metadata of a closed stream', { s: deletedRevision }, [append('$$s', expectAny)]],
    ['absent metadata of a stream that may be closed', { $$s: -1n, $$$$s: -1n }, [append('$$s', 3n)]],
    ['one of several', { known: 4n, $$known: -1n }, [append('new', expectAny), append('known', 3n)]],
  ]
  for (const [what, heads, proposals] of table) t.equal(assumeGroupFacts(cacheOf(heads), proposals), undefined, what)
})
