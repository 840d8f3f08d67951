import { noFilters } from '@paylog/event-store/export/filters'
import { createManifest } from '@paylog/event-store/export/manifest'
import t from 'tap'
import { compare } from './compareExport.ts'

t.test('twenty events of each kind are listed, and all are counted', async (t) => {
  const facts = { head: '5', count: 0, first_position: null, last_position: null, bytes: 0, checkpoint: null }
  async function* content() {
    yield new TextEncoder().encode('noise\n'.repeat(30))
  }
  const { isEqual, listed, found } = await compare({
    manifest: createManifest({ filters: noFilters, ...facts, sha256: '0'.repeat(64) }),
    content: content(),
    fetchPage: async () => ({ text: '{"id":"a","position":"5"}\n', next: null, head: '5' }),
    signal: new AbortController().signal,
    onProgress: () => undefined,
  })
  t.equal(isEqual, false)
  t.equal(found.extra.count, 30)
  t.equal(found.extra.first.length, 20)
  t.same(found.extra.first[0], { line: 1, id: null, position: null })
  t.same(found.missing, { count: 1, first: [{ line: null, id: 'a', position: '5' }] })
  t.match(
    listed.map((finding) => finding.kind === 'manifest' && finding.field),
    ['count', 'bytes', 'sha256'],
  )
})
