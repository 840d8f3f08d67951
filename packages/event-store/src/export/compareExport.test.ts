// Exports and their comparison, on the pages of a made-up log.
import { createHash } from 'node:crypto'
import t from 'tap'
import { compareExport } from './compareExport.ts'
import { type Difference, differenceText } from './difference.ts'
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

/** A difference as its kind, its place, and the ids on both sides, if it has them. */
function textOf(difference: Difference | undefined): string | undefined {
  if (difference === undefined || difference.kind === 'other_log') return difference?.kind
  if (difference.kind === 'manifest') return `manifest ${difference.field}`
  const names = ['expected' in difference && difference.expected, 'found' in difference && difference.found]
  return [difference.kind, difference.line, ...names.flatMap((name) => (name ? [name.id] : []))].join(' ')
}

async function compare(text: string, manifest: Manifest, positions: number[] | undefined) {
  const compared = await compareExport({
    manifest,
    content: contentOf(text),
    hash: sha256(),
    fetchPage: positions && logOf(...positions).fetchPage,
    signal,
    onProgress: () => undefined,
  })
  return { ...compared, found: textOf(compared.difference) }
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
  t.equal((await compare('', manifest, [])).difference, undefined)
  t.match(await compare('', manifest, [10]), { difference: undefined, logEnd: '10' })
})

const positions = [10, 20, 30, 40, 50]

t.test('an export equals its manifest and the log, also after the log has grown', async (t) => {
  const { manifest, text } = await exported(positions)
  const same = { difference: undefined, events: 5, isAsManifest: true }
  t.match(await compare(text, manifest, positions), { ...same, logEnd: '50' })
  t.match(await compare(text, manifest, [...positions, 60]), { ...same, logEnd: '60' })
  t.match(await compare(text, manifest, undefined), { ...same, events: 0, logEnd: undefined })
})

/** What is done to the lines of an export of five events, and the first difference that is found. */
const tampering: readonly (readonly [string, (lines: string[]) => string[], string])[] = [
  ['a byte is changed', (lines) => lines.with(2, lineAt(30).replace('ñ', 'Ñ')), 'line 3 event-30 event-30'],
  ['the last line feed is missing', (lines) => lines.with(4, lineAt(50).trimEnd()), 'line 5 event-50 event-50'],
  ['a line is removed', (lines) => lines.toSpliced(1, 1), 'line 2 event-20 event-30'],
  ['the last line is removed', (lines) => lines.slice(0, 4), 'file_ends 5 event-50'],
  ['an event is added', (lines) => lines.toSpliced(2, 0, lineAt(25)), 'line 3 event-30 event-25'],
  ['an event is added at the end', (lines) => [...lines, lineAt(60)], 'log_ends 6 event-60'],
  ['a line that is no event is added', (lines) => lines.toSpliced(2, 0, 'noise\n'), 'line 3 event-30'],
  ['two lines have changed places', ([one = '', two = '', ...rest]) => [two, one, ...rest], 'line 1 event-10 event-20'],
  ['a line is repeated', ([first = '', ...rest]) => [first, first, ...rest], 'line 2 event-20 event-10'],
  ['all lines are removed', () => [], 'file_ends 1 event-10'],
]

t.test('every kind of tampering is found, and the first difference is named', async (t) => {
  const { manifest, text } = await exported(positions)
  for (const [what, change, found] of tampering) {
    const changed = change(text.split(/(?<=\n)/)).join('')
    t.match(await compare(changed, manifest, positions), { found, isAsManifest: false }, what)
    t.match((await compare(changed, manifest, undefined)).found, /^manifest/, `${what}: without the log`)
  }
  t.match(await compare(text, { ...manifest, count: 4 }, positions), { found: 'manifest count', events: 5 })
})

t.test('a log that has changed since differs from a file that is as its manifest says', async (t) => {
  const { manifest, text } = await exported(positions)
  t.match(await compare(text, manifest, [10, 30, 40, 50]), { found: 'line 2 event-30 event-20', isAsManifest: true })
  t.match(await compare(text, manifest, [10, 20]), { found: 'other_log', isAsManifest: true, events: 0 })
})

t.test('an export that was cut together with its manifest misses events before its until', async (t) => {
  const filters = { ...noFilters, until: '2026-02-01T00:00:00.000Z' }
  const { manifest, text } = await exported([10, 20], filters)
  t.equal((await compare(text, manifest, [10, 20])).difference, undefined)
  t.equal((await compare(text, manifest, [10, 20, 30])).found, 'file_ends 3 event-30')
})

t.test('a difference is a sentence that names line, event and field', async (t) => {
  const { manifest, text } = await exported(positions)
  const sentence = async (changed: string) => {
    const { difference } = await compare(changed, manifest, positions)
    return difference && differenceText(difference)
  }
  const name = (position: number) => `payment-1@0 (Noted, id event-${position}, position ${position})`
  t.equal(
    await sentence(text.replace(lineAt(30), lineAt(30).replace('ñ', 'n'))),
    `line 3, ${name(30)}: data.word is "n", in the log "ñ"`,
  )
  t.equal(await sentence(text.replace(lineAt(30), '')), `line 3: the file has ${name(40)}, and the log ${name(30)}`)
  t.equal(await sentence(text.replace(lineAt(50), '')), `line 5: the file ends here, and the log has ${name(50)}`)
  t.equal(await sentence(text.replace(lineAt(30), '\n')), `line 3, ${name(30)}: it is not a JSON object`)
})
