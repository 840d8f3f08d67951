import { createHash } from 'node:crypto'
import type { Manifest } from '@paylog/event-store/export/manifest'
import t from 'tap'
import { compareExport, type FindingKind } from './compareExport.ts'
import { exportLog } from './exportLog.ts'
import type { FetchPage } from './logPages.ts'

const none = { category: null, stream: null, type: null, since: null, until: null }
const { signal } = new AbortController()
const lineAt = (position: number) =>
  `{"id":"event-${position}","stream":"payment-1","revision":"0","position":"${position}","type":"Noted","created":"2026-01-31T12:00:00.000Z","data":{"word":"ñ"},"metadata":{}}\n`

/** A log with an event at each of these positions, two a page, and every other page empty. */
function logOf(...positions: number[]) {
  const requests: Parameters<FetchPage>[0][] = []
  const end = positions.at(-1)
  const fetchPage: FetchPage = async (query) => {
    requests.push(query)
    const head = query.head === undefined ? end : Number(query.head)
    const rest = positions.filter((each) => each > Number(query.after ?? -1) && each <= (head ?? -1))
    const isEmpty = requests.length % 2 === 0 && rest.length > 0
    const lines = isEmpty ? [] : rest.slice(0, 2)
    const next = isEmpty ? (query.after ?? '0') : rest.length > 2 ? String(lines.at(-1)) : null
    const bytes = new TextEncoder().encode(lines.map(lineAt).join(''))
    return { bytes, next, head: head === undefined ? null : String(head) }
  }
  return { fetchPage, requests }
}

async function exported(positions: number[], filters: Manifest['filters'] = none) {
  const { fetchPage, requests } = logOf(...positions)
  const chunks: Uint8Array[] = []
  const manifest = await exportLog(
    { fetchPage, filters, signal },
    {
      write: async (bytes) => void chunks.push(bytes),
      onProgress: () => undefined,
      findCheckpoint: async (lastPosition, count) => ({ note: `${count} to ${lastPosition}`, consistency: null }),
    },
  )
  return { manifest, requests, text: Buffer.concat(chunks).toString() }
}

/** In chunks of seven bytes, so that lines and letters are cut. */
async function* contentOf(text: string) {
  const bytes = Buffer.from(text)
  for (let start = 0; start < bytes.length; start += 7) yield new Uint8Array(bytes.subarray(start, start + 7))
}

const compare = (text: string, manifest: Manifest, positions: number[]) =>
  compareExport({
    manifest,
    content: contentOf(text),
    fetchPage: logOf(...positions).fetchPage,
    signal,
    onProgress: () => undefined,
  })

async function comparisonOf(change: (lines: string[]) => string[], positions = [10, 20, 30, 40, 50]) {
  const { manifest, text } = await exported([10, 20, 30, 40, 50])
  const lines = text.split(/(?<=\n)/)
  const comparison = await compare(change(lines).join(''), manifest, positions)
  const found = (kind: FindingKind) => comparison.found[kind].first.map(({ line, id }) => [line, id])
  return { ...comparison, listOf: found }
}

t.test('an export has the lines of all pages up to the head of the first one, and their manifest', async (t) => {
  const { manifest, requests, text } = await exported([10, 20, 30, 40, 50], { ...none, category: 'payment' })
  t.equal(text, [10, 20, 30, 40, 50].map(lineAt).join(''))
  t.same(manifest, {
    format: 2,
    filters: { ...none, category: 'payment' },
    head: '50',
    count: 5,
    first_position: '10',
    last_position: '50',
    bytes: Buffer.byteLength(text),
    sha256: createHash('sha256').update(text).digest('hex'),
    checkpoint: { note: '5 to 50', consistency: null },
  })
  t.ok(requests.every(({ category }) => category === 'payment'))
  t.ok(requests.slice(1).every(({ head }) => head === '50'))
})

t.test('an export of an empty log is an empty file with a manifest', async (t) => {
  const { manifest, text } = await exported([])
  t.equal(text, '')
  t.match(manifest, { head: null, count: 0, first_position: null, last_position: null, bytes: 0 })
  t.equal((await compare('', manifest, [])).isEqual, true)
  t.match(await compare('', manifest, [10]), { isEqual: false, extent: 'nothing_covered' })
})

t.test('an export equals its manifest and the log, also after the log has grown', async (t) => {
  t.match(await comparisonOf((lines) => lines), { isEqual: true, events: 5, head: '50', logEnd: '50' })
  t.match(await comparisonOf((lines) => lines, [10, 20, 30, 40, 50, 60]), { isEqual: true, head: '50', logEnd: '60' })
})

t.test('a changed byte is found, with line and event', async (t) => {
  const changed = await comparisonOf((lines) => lines.map((line, at) => (at === 2 ? line.replace('ñ', 'Ñ') : line)))
  t.same(changed.listOf('changed'), [[3, 'event-30']])
  t.same(
    changed.manifest.map(({ field }) => field),
    ['sha256'],
  )
  t.equal(changed.isEqual, false)
  const unended = await comparisonOf((lines) => lines.map((line, at) => (at === 4 ? line.trimEnd() : line)))
  t.same(unended.listOf('changed'), [[5, 'event-50']], 'a missing line feed is a change')
})

t.test('missing, additional and misplaced events are distinguished', async (t) => {
  const missing = await comparisonOf((lines) => lines.filter((_, at) => at !== 1))
  t.same(missing.listOf('missing'), [[null, 'event-20']])
  const additional = await comparisonOf((lines) => [...lines.slice(0, 2), lineAt(25), 'noise\n', ...lines.slice(2)])
  t.same(additional.listOf('additional').toSorted(), [
    [3, 'event-25'],
    [4, null],
  ])
  const [first = '', second = '', ...rest] = [10, 20, 30, 40, 50].map(lineAt)
  const misplaced = await comparisonOf(() => [second, first, ...rest])
  t.equal(misplaced.found.misplaced.count, 1)
  for (const kind of ['changed', 'missing', 'additional'] as const) t.equal(misplaced.found[kind].count, 0, kind)
})

t.test('an export of another or a younger log is recognised', async (t) => {
  t.match(await comparisonOf((lines) => lines, [10, 20]), { isEqual: false, extent: 'other_log' })
})

t.test('an export that was cut together with its manifest misses events before its until', async (t) => {
  const filters = { ...none, until: '2026-02-01T00:00:00.000Z' }
  const { manifest, text } = await exported([10, 20], filters)
  t.match(await compare(text, manifest, [10, 20]), { isEqual: true })
  const cut = await compare(text, manifest, [10, 20, 30])
  t.same(cut.found.missing, { count: 1, first: [{ line: null, id: 'event-30', position: '30' }] })
})

t.test('twenty findings of each kind are listed, and all are counted', async (t) => {
  const { found } = await comparisonOf((lines) => [...lines, ...Array.from({ length: 30 }, () => 'noise\n')])
  t.equal(found.additional.count, 30)
  t.equal(found.additional.first.length, 20)
})

t.test('an export of format 1, whose lines have no exact bytes, is compared with the lines of the API', async (t) => {
  const exact = (line: string) => line.replace(/\}\n$/, ',"exact":{"data":"e30="}}\n')
  const { manifest, text } = await exported([10, 20])
  const content = contentOf(text)
  const { fetchPage } = logOf(10, 20)
  const withExact: FetchPage = async (query, aborted) => {
    const page = await fetchPage(query, aborted)
    const lines = Buffer.from(page.bytes)
      .toString()
      .split(/(?<=\n)/)
    return { ...page, bytes: new TextEncoder().encode(lines.map(exact).join('')) }
  }
  const options = { content, fetchPage: withExact, signal, onProgress: () => undefined }
  t.match(await compareExport({ ...options, manifest: { ...manifest, format: 1 } }), { isEqual: true, events: 2 })
  const present = await compareExport({ ...options, content: contentOf(text), manifest })
  t.match(present, { isEqual: false, found: { changed: { count: 2 } } })
})
