// Exports and their comparison, on the pages of a made-up log.
import { createHash } from 'node:crypto'
import t from 'tap'
import { compareExport, type Finding } from './compareExport.ts'
import { exportLog } from './exportLog.ts'
import type { ExportPageRequest, FetchPage } from './exportPages.ts'
import { type ExportFilters, noFilters } from './filters.ts'
import type { Manifest } from './manifest.ts'

const { signal } = new AbortController()
const lineAt = (position: number) =>
  `{"id":"event-${position}","stream":"payment-1","revision":"0","position":"${position}","type":"Noted","created":"2026-01-31T12:00:00.000Z","data":{"word":"ñ"},"metadata":{}}\n`

const sha256 = () => {
  const hash = createHash('sha256')
  return { update: (bytes: Uint8Array) => void hash.update(bytes), digest: () => hash.digest('hex') }
}

/** A log with an event at each of these positions, two a page, and every other page empty. */
function logOf(...positions: number[]) {
  const requests: ExportPageRequest[] = []
  const end = positions.at(-1)
  const fetchPage: FetchPage = async (request) => {
    requests.push(request)
    const head = request.head === null ? end : Number(request.head)
    const rest = positions.filter((each) => each > Number(request.after ?? -1) && each <= (head ?? -1))
    const isEmpty = requests.length % 2 === 0 && rest.length > 0
    const lines = isEmpty ? [] : rest.slice(0, 2)
    const next = isEmpty ? (request.after ?? '0') : rest.length > 2 ? String(lines.at(-1)) : null
    return { text: lines.map(lineAt).join(''), next, head: head === undefined ? null : String(head) }
  }
  return { fetchPage, requests }
}

async function exported(positions: number[], filters: ExportFilters = noFilters) {
  const { fetchPage, requests } = logOf(...positions)
  const chunks: Uint8Array[] = []
  const manifest = await exportLog(
    { fetchPage, filters, signal },
    {
      hash: sha256(),
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

/** A finding as its kind, its line and its event, if it has them. */
function textOf(finding: Finding): string {
  if (finding.kind === 'manifest') return `manifest ${finding.field}`
  const line = 'line' in finding ? finding.line : undefined
  const event = 'expected' in finding ? finding.expected : line
  return [finding.kind, line?.number, event?.id].filter((part) => part !== undefined).join(' ')
}

async function compare(text: string, manifest: Manifest, positions: number[]) {
  const findings: string[] = []
  const compared = await compareExport({
    manifest,
    content: contentOf(text),
    hash: sha256(),
    fetchPage: logOf(...positions).fetchPage,
    signal,
    onProgress: () => undefined,
    onFinding: (finding) => void findings.push(textOf(finding)),
  })
  return { ...compared, findings }
}

/** The findings about events in an export of five events that was changed. */
async function findingsOf(change: (lines: string[]) => string[], positions = [10, 20, 30, 40, 50]) {
  const { manifest, text } = await exported([10, 20, 30, 40, 50])
  const { findings } = await compare(change(text.split(/(?<=\n)/)).join(''), manifest, positions)
  return findings.filter((finding) => !finding.startsWith('manifest '))
}

t.test('an export has the lines of all pages up to the head of the first one, and their manifest', async (t) => {
  const filters = { ...noFilters, category: 'payment' }
  const { manifest, requests, text } = await exported([10, 20, 30, 40, 50], filters)
  t.equal(text, [10, 20, 30, 40, 50].map(lineAt).join(''))
  t.same(manifest, {
    format: 2,
    filters,
    head: '50',
    count: 5,
    first_position: '10',
    last_position: '50',
    bytes: Buffer.byteLength(text),
    sha256: createHash('sha256').update(text).digest('hex'),
    checkpoint: { note: '5 to 50', consistency: null },
  })
  t.ok(requests.every((request) => request.filters.category === 'payment'))
  t.ok(requests.slice(1).every(({ head }) => head === '50'))
})

t.test('an export of an empty log is an empty file with a manifest', async (t) => {
  const { manifest, text } = await exported([])
  t.equal(text, '')
  t.match(manifest, { head: null, count: 0, first_position: null, last_position: null, bytes: 0 })
  t.same((await compare('', manifest, [])).findings, [])
  t.same((await compare('', manifest, [10])).findings, ['nothing_covered'])
})

t.test('an export equals its manifest and the log, also after the log has grown', async (t) => {
  const { manifest, text } = await exported([10, 20, 30, 40, 50])
  const same = { findings: [], events: 5, head: '50', isAsManifest: true }
  t.match(await compare(text, manifest, [10, 20, 30, 40, 50]), { ...same, logEnd: '50' })
  t.match(await compare(text, manifest, [10, 20, 30, 40, 50, 60]), { ...same, logEnd: '60' })
})

t.test('a changed byte is found, with line and event', async (t) => {
  const { manifest, text } = await exported([10, 20, 30, 40, 50])
  const changed = text.replace(lineAt(30), lineAt(30).replace('ñ', 'Ñ'))
  t.match(await compare(changed, manifest, [10, 20, 30, 40, 50]), {
    findings: ['changed 3 event-30', 'manifest sha256'],
    isAsManifest: false,
  })
  t.same(
    await findingsOf((lines) => lines.map((line, at) => (at === 4 ? line.trimEnd() : line))),
    ['changed 5 event-50'],
    'a missing line feed is a change',
  )
})

t.test('missing, additional and misplaced events are distinguished', async (t) => {
  t.same(await findingsOf((lines) => lines.filter((_, at) => at !== 1)), ['missing event-20'])
  t.same(await findingsOf((lines) => [...lines.slice(0, 2), lineAt(25), 'noise\n', ...lines.slice(2)]), [
    'extra 3 event-25',
    'extra 4',
  ])
  t.same(await findingsOf(([first = '', second = '', ...rest]) => [second, first, ...rest]), [
    'out_of_order 1 event-20',
  ])
})

t.test('an export of another or a younger log is recognised', async (t) => {
  t.same((await findingsOf((lines) => lines, [10, 20]))[0], 'other_log')
})

t.test('an export that was cut together with its manifest misses events before its until', async (t) => {
  const filters = { ...noFilters, until: '2026-02-01T00:00:00.000Z' }
  const { manifest, text } = await exported([10, 20], filters)
  t.same((await compare(text, manifest, [10, 20])).findings, [])
  t.same((await compare(text, manifest, [10, 20, 30])).findings, ['missing event-30'])
})
