// An export contains the selected events byte by byte, and repeated exports are equal.
import { createHash } from 'node:crypto'
import { readFileSync, readlinkSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { noFilters } from '@paylog/event-store/export/filters'
import { createManifest, manifestOf } from '@paylog/event-store/export/manifest'
import t from 'tap'
import { exportHarness, linesOf, type RecordedRow } from '../testing/exportHarness.ts'
import { runOps } from '../testing/runOps.ts'
import { createExportFile } from './exportFile.ts'

const harness = await exportHarness(t)
const { append, exportTo, newPath, rows, sql, environment, filesThere, directory } = harness

const odd = {
  digits: '{"b":1.10,"a":12345678901234567890, "c":1e400,"\\u00e4":"\\n"}',
  lines: '{\r\n  "a":\n1\n}',
}
await append('payment-1', { type: 'PaymentInitiated', data: odd.digits }, { type: 'Unknown.v9', data: odd.lines })
await append('paymentMethod-1', { type: 'PaymentMethodAdded' })
await append('payment-10', { type: 'PaymentInitiated', contentType: 'application/octet-stream', data: '{"a":1}' })
await append('payment', { type: 'PaymentInitiated', data: 'not JSON' })
await append('product-1', { type: 'ProductAdded', metadata: '' }, { type: 'ProductAddedAgain', metadata: '\xff\0' })
await append('$mine-1', { type: 'PaymentInitiated' })
await append('payment-2-3', { type: 'PaymentSucceeded', data: '{"text":"\xc3\xbc"}' }, { type: 'ProductAdded' })
await append('address-1', { type: 'AddressAdded' })

const dayMs = 86_400_000
const firstDay = Date.parse('2026-01-01T00:00:00Z')
/** Sets the recorded times one day apart, except for the stream `payment`, whose server had a wrong clock. */
async function setClock(): Promise<void> {
  let day = 0
  for (const { position, stream } of await rows()) {
    const createdMs = firstDay + (stream === 'payment' ? 1 : day) * dayMs
    await sql('update event_store.events set created_ticks = $1 where position = $2', [
      String(BigInt(createdMs) * 10_000n + 9_999n),
      String(position),
    ])
    day++
  }
}
await setClock()
const dayOf = (day: number) => new Date(firstDay + day * dayMs).toISOString()
const createdMs = ({ created_ticks }: RecordedRow) => Number(created_ticks / 10_000n)

const idsIn = (path: string) => linesOf(path).map((line): string => JSON.parse(line).id)

t.test('an export has JSON on one line as recorded, and everything else in base64', async (t) => {
  const path = newPath()
  const manifest = await exportTo(path)
  const lines = linesOf(path)
  const [first] = (await rows()).filter(({ stream }) => stream === 'payment-1')
  t.equal(
    lines[0],
    `{"id":"${first?.event_id}","stream":"payment-1","revision":"0","position":"${first?.position}",` +
      `"type":"PaymentInitiated","created":"${new Date(first ? createdMs(first) : 0).toISOString()}",` +
      `"data":${odd.digits},"metadata":{}}`,
  )
  t.match(lines[1], `"data_base64":"${Buffer.from(odd.lines).toString('base64')}","metadata":{}}`)
  t.match(
    lines[3],
    '"data_base64":"eyJhIjoxfQ==","metadata":{}}',
    'binary data stays binary even if it looks like JSON',
  )
  t.match(lines[4], `"data_base64":"${Buffer.from('not JSON').toString('base64')}"`)
  t.match(lines[5], '"data":{},"metadata_base64":""}')
  t.match(lines[6], '"metadata_base64":"/wA="}')
  t.match(lines[7], '"data":{"text":"ü"}')
  const bytes = readFileSync(path)
  t.same(manifest, {
    format: 2,
    filters: { category: null, stream: null, type: null, since: null, until: null },
    // Its own record is the event after it.
    head: String((await rows()).at(-2)?.position),
    count: lines.length,
    first_position: String(first?.position),
    last_position: JSON.parse(lines.at(-1) ?? '').position,
    bytes: bytes.length,
    sha256: createHash('sha256').update(bytes).digest('hex'),
    checkpoint: null,
  })
  t.same(JSON.parse(readFileSync(manifestOf(path), 'utf8')), manifest)
  for (const file of [path, manifestOf(path)]) t.equal(statSync(file).mode & 0o777, 0o600)
})

type Condition = {
  readonly flags: readonly [option: string, value: string]
  readonly has: (row: RecordedRow) => boolean
}

const conditions: readonly Condition[] = [
  { flags: ['--category', 'payment'], has: ({ stream }) => stream.startsWith('payment-') },
  { flags: ['--stream', 'payment-1'], has: ({ stream }) => stream === 'payment-1' },
  { flags: ['--type', 'PaymentInitiated'], has: ({ type }) => type === 'PaymentInitiated' },
  { flags: ['--since', dayOf(2)], has: (row) => createdMs(row) >= firstDay + 2 * dayMs },
  { flags: ['--until', dayOf(7)], has: (row) => createdMs(row) < firstDay + 7 * dayMs },
]
const productsAdded: Condition = { flags: ['--type', 'ProductAdded'], has: ({ type }) => type === 'ProductAdded' }

t.test('every combination of filters selects the matching events', async (t) => {
  let combinations: Condition[][] = [[]]
  for (const condition of conditions)
    combinations = combinations.concat(combinations.map((some) => [...some, condition]))
  let notEmpty = 0
  for (const combination of [...combinations, [productsAdded]]) {
    // Each export adds its record to the log.
    const recorded = (await rows()).filter(({ stream }) => !stream.startsWith('$'))
    const expected = recorded.filter((row) => combination.every(({ has }) => has(row)))
    const flags = combination.flatMap((condition) => condition.flags)
    const path = join(directory, 'combination.ndjson')
    const manifest = await exportTo(path, '--force', ...flags)
    t.same(
      [idsIn(path), manifest.count],
      [expected.map(({ event_id }) => event_id), expected.length],
      flags.join(' ') || 'no filter',
    )
    if (expected.length > 0) notEmpty++
  }
  t.ok(notEmpty > 15, `${notEmpty} combinations let something through`)
})

t.test('--since is inclusive and --until exclusive, to the millisecond', async (t) => {
  const [row] = (await rows()).filter(({ stream }) => stream === 'product-1')
  const at = row ? createdMs(row) : 0
  const count = async (flag: string, ms: number) =>
    (await exportTo(newPath(), '--stream', 'product-1', '--type', 'ProductAdded', flag, new Date(ms).toISOString()))
      .count
  t.same([await count('--since', at), await count('--since', at + 1)], [1, 0])
  t.same([await count('--until', at), await count('--until', at + 1)], [0, 1])
})

t.test('filters that match nothing give an empty export, and an unknown category a warning', async (t) => {
  const path = newPath()
  t.match(await exportTo(path, '--stream', 'none'), { count: 0, bytes: 0, first_position: null, last_position: null })
  t.equal(readFileSync(path, 'utf8'), '')
  const ended = await runOps(['streams', 'export', '--out', newPath(), '--category', 'paymnt'], environment)
  t.match(ended, { code: 0, stdout: /: 0 events, of the log up to position \d+; 0 bytes/ })
  t.match(ended.stderr, /^Warning: Paylog has no category paymnt\. It has payment, paymentMethod, /)
  t.notMatch(
    (await runOps(['streams', 'export', '--out', newPath(), '--category', 'address'], environment)).stderr,
    'Warning',
  )
})

t.test('the same filters give the same bytes, in any process and after the log has grown', async (t) => {
  const flags = ['--category', 'payment', '--until', dayOf(8)]
  const paths = [newPath(), newPath(), newPath()] as const
  const inProcess = (path: string) => runOps(['streams', 'export', '--out', path, ...flags], environment)
  const ended = await Promise.all([inProcess(paths[0]), inProcess(paths[1])])
  t.same(
    ended.map(({ code }) => code),
    [0, 0],
  )
  t.match(ended[0].stderr, /^Exporting: 100 %, \d+ events.*\n$/)
  await append('payment-3', { type: 'PaymentInitiated' })
  await exportTo(paths[2], ...flags)
  const contents = paths.map((path) => readFileSync(path, 'utf8') + readFileSync(manifestOf(path), 'utf8'))
  t.equal(contents[1], contents[0])
  t.equal(contents[2], contents[0])
  t.ok(linesOf(paths[0]).length > 1)
})

t.test('streams export does not replace existing files without --force', async (t) => {
  const path = newPath()
  writeFileSync(path, 'precious')
  await t.rejects(exportTo(path), { message: `${path} exists. Name another file, or replace it with --force.` })
  const manifestOnly = newPath()
  writeFileSync(manifestOf(manifestOnly), 'precious')
  await t.rejects(exportTo(manifestOnly), { message: `${manifestOf(manifestOnly)} exists` })
  t.equal(readFileSync(path, 'utf8') + readFileSync(manifestOf(manifestOnly), 'utf8'), 'preciousprecious')
  await exportTo(path, '--force', '--stream', 'payment-1')
  t.equal(linesOf(path).length, 2)
  t.same(
    filesThere().filter((name) => name.includes('.part')),
    [],
  )
})

const oneEvent = createManifest({
  filters: noFilters,
  head: '1',
  count: 1,
  first_position: '1',
  last_position: '1',
  bytes: 3,
  sha256: createHash('sha256').update('{}\n').digest('hex'),
  checkpoint: null,
})

t.test('streams export does not replace a file that appears while it runs', async (t) => {
  const path = newPath()
  const file = await createExportFile(path, { replaces: false })
  await file.write(Buffer.from('{}\n'))
  writeFileSync(path, 'precious')
  await t.rejects(file.publish(oneEvent), { message: /exists/ })
  await file.discard()
  t.equal(readFileSync(path, 'utf8'), 'precious')
  t.same(
    filesThere().filter((name) => name.includes('.part') || join(directory, name) === manifestOf(path)),
    [],
  )
})

const unreachable = { ...environment, EVENTSTORE_URL: 'esdb://127.0.0.1:1?tls=false' }

t.test('streams export replaces no directory, link or file that has one of its names at the end', async (t) => {
  for (const taken of [(path: string) => path, manifestOf]) {
    const path = newPath()
    const file = await createExportFile(path, { replaces: false })
    await file.write(Buffer.from('{}\n'))
    // existsSync returns false for a dangling link.
    symlinkSync(join(directory, 'nowhere'), taken(path))
    await t.rejects(file.publish(oneEvent), { message: `${taken(path)} exists` })
    await file.discard()
    t.equal(readlinkSync(taken(path)), join(directory, 'nowhere'))
    t.same(
      filesThere().filter((name) => join(directory, name).startsWith(path)),
      [basename(taken(path))],
    )
  }
})

t.test('streams export with invalid options or an unwritable path fails before it reads the log', async (t) => {
  const usage = [
    { flags: ['--category', 'payment-1'], expected: /^--category must not contain a dash/ },
    { flags: ['--category', ''], expected: '--category is empty' },
    { flags: ['--stream', '$settings'], expected: /^--stream must not be a system stream/ },
    { flags: ['--since', 'yesterday'], expected: /^--since must be a time/ },
    { flags: ['--until', '24'], expected: /^--until must be a time/ },
    { flags: ['--until', '2999-01-01T00:00:00Z'], expected: '--until is in the future' },
    { flags: ['--until', '5s'], expected: '--until must be at least 10 s ago' },
    { flags: ['--since', '1h', '--until', '2h'], expected: '--since must be before until' },
  ]
  for (const { flags, expected } of usage) {
    await t.rejects(exportTo(newPath(), ...flags), { exitCode: 2, message: expected }, flags.join(' '))
  }
  t.match(await runOps(['streams', 'export'], environment), { code: 2, stderr: /^--out is missing\n/ })
  for (const flags of [[], ['--force']])
    t.match(
      await runOps(['streams', 'export', '--out', directory, ...flags], unreachable),
      { code: 1, stderr: `${directory} is a directory. Name a file.\n` },
      'the event store is not contacted',
    )
  await t.rejects(exportTo(join(directory, 'none', 'file')), { message: /cannot be written: ENOENT/, exitCode: 1 })
})

t.test('streams export without an event store fails and leaves no file', async (t) => {
  const before = filesThere()
  const ended = await runOps(['streams', 'export', '--out', newPath()], unreachable)
  t.match(ended, { code: 1, stdout: '', stderr: /^The event store cannot be reached: / })
  t.same(filesThere(), before)
})
